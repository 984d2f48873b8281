/**
 * The catalogue in Chinese. What stands in the project's founding documents is verbatim.
 * Each section is one part of the program; en.ts says the same in English.
 */
export const zh = {
  registry: {
    unknownTool: (name: string, available: readonly string[]) =>
      `Error: 系统中不存在名为 '${name}' 的工具。\n可用工具: ${available.join(", ") || "（无）"}`,
    executionFailed: (name: string, reason: string) => `Error executing ${name}: ${reason}`,
    argumentsNotJson: (reason: string, quoted: string) => `参数解析失败: ${reason}\n收到的参数: ${quoted}`,
    argumentsInvalid: (problems: string) => `参数解析失败: ${problems}`,
    argumentProblem: (field: string, rule: string, received: string) => `${field}: ${rule}（收到 ${received}）`,
    timedOut: (name: string, seconds: number) => `Error executing ${name}: 工具执行超时(${seconds}s)，已被引擎终止。`,
    cancelled: (name: string) => `Error executing ${name}: 已被用户取消。`,
  },
  files: {
    outside: (path: string) => `路径 '${path}' 超出工作区范围`,
    sensitive: (path: string) => `路径 '${path}' 是受保护的敏感路径，禁止访问`,
    readCut: (bytes: number) => `\n\n...[内容过长，已截断至前 ${bytes} 字节]...`,
    written: (bytes: number, path: string) => `成功将 ${bytes} 字节写入到文件: ${path}`,
    edited: (path: string) => `成功修改文件: ${path}`,
  },
  bash: {
    emptyCommand: "Error: 命令为空字符串",
    failed: (status: string, output: string) => `执行报错: ${status}\n输出:\n${output}`,
    silent: "命令执行成功，无终端输出。",
    timedOut: (seconds: number) => `\n[警告: 命令执行超时(${seconds}s)，已被系统强制终止。]`,
    cut: (bytes: number, path: string) => `...[输出过长，中间 ${bytes} 字节已截断，保留首尾；完整输出: ${path}]...`,
  },
  engine: {
    emptyOutput: "[工具执行完成，无输出]",
    maxTurns: (turns: number) => `已达最大 Turn 数 (${turns})，循环终止`,
    cancelled: (reason: string) => `context 已取消: ${reason}`,
    callCancelled: "Error: 运行已被取消，此工具调用没有执行完成。",
    callNotRun: "Error: 运行在此工具调用执行之前结束。",
    callCut:
      "Error: 回答在输出长度上限处被截断，此工具调用的参数不完整，没有执行。请缩小参数（例如分几次写入）后重试。",
    emptyToolCalls: "模型声明要调用工具，但没有给出任何工具调用",
    repeatedReminder: (name: string, times: number) =>
      `提醒: 工具 ${name} 已用相同的参数调用 ${times} 次，结果都相同。请换一种做法，或说明被什么卡住。`,
    repeatedCall: (times: number) => `重复调用提醒无效（同一调用已出现 ${times} 次），循环终止`,
    repeatedQuestion: (name: string, times: number) =>
      `工具 ${name} 已用相同的参数调用 ${times} 次，结果都相同。继续吗？`,
    repeatedContinue: "继续",
    repeatedStop: "结束",
    answerCut: "回答在输出长度上限处被截断。",
    contentFiltered: "回答被内容过滤器截断。",
    refused: "模型拒绝回答。",
    budgetCost: (limit: string) => `已达费用上限 (${limit})，循环终止`,
    budgetTokens: (limit: number) => `已达到 Token 预算 (${limit})，循环终止`,
    budgetTime: (limit: string) => `已达运行超时上限 (${limit})，循环终止`,
  },
  provider: {
    missingKey: (variable: string) => `请设置 ${variable} 环境变量`,
  },
  permission: {
    denied: (rule: string) => `denied by policy: ${rule}`,
    needsConfirmation: (reason: string) => `denied by policy: [需要确认] ${reason}`,
  },
  config: {},
  cli: {},
};

/** Every string that a person or the model reads. */
export type Strings = typeof zh;
