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
    cancelled: (name: string) => `Error executing ${name}: 已取消。`,
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
    failed: (provider: string, model: string, status: number | null, words: string) =>
      `${provider} (${model}): ${status === null ? "" : `HTTP ${status} `}${words}`,
    noWords: "服务器没有说明原因",
    htmlAnswer: "服务器返回的是网页，不是 API 的 JSON",
    notJson: (quoted: string) => `服务器返回的内容不是 JSON: ${quoted}`,
    brokenEvent: (quoted: string) => `流中有一段数据不是 JSON: ${quoted}`,
    brokenStream: "流在给出结束原因之前中断",
    serverStopped: (reason: string) => `服务器中止了回答 (${reason})`,
    emptyToolCalls: "模型声明要调用工具，但没有给出任何工具调用",
    cancelled: "请求已取消",
    firstByteTimeout: (seconds: number) => `${seconds}s 内没有收到任何数据`,
    silenceTimeout: (seconds: number) => `流中断：${seconds}s 内没有新数据`,
    unreachable: (origin: string, code: string) => `无法连接 ${origin} (${code})`,
    limitResets: (duration: string, time: string) => `限额在 ${duration} 后（${time}）恢复，等待时间过长，不再重试`,
    hintKey: (variable: string) => `请检查 ${variable} 是否正确、是否有权使用该模型`,
    hintModel: (model: string, baseUrl: string) =>
      `请检查模型名 ${model}（-m/--model）和 Base URL ${baseUrl} 是否正确`,
    hintBaseUrl: (baseUrl: string) => `请检查 Base URL: ${baseUrl}`,
    hintCertificate: "如使用公司代理或自签名证书，请用 NODE_EXTRA_CA_CERTS 指定 CA 文件",
    hintNetwork: "请检查网络、Base URL，以及 HTTP_PROXY / HTTPS_PROXY / NO_PROXY 的设置",
    hintQuota: "额度或账单已用尽，重试无效：请充值、提高限额，或用 --provider / -m 换一个",
    hintContext: "上下文超出模型窗口：请压缩（/compact）、开始新会话，或换用窗口更大的模型",
    hintLater: "请稍后再试，或用 -m/--model 换一个模型",
    emptyContent: "（空）",
    imageOmitted: (path: string) => `[图片 ${path}：该模型不支持图片]`,
    imageUnreadable: (path: string, reason: string) => `[图片 ${path} 无法读取: ${reason}]`,
    imageTooLarge: (path: string, bytes: number) => `[图片 ${path} 过大（${bytes} 字节），未发送]`,
    imagesOf: (toolCallId: string) => `[工具调用 ${toolCallId} 返回的图片]`,
    thoughtSoFar: (thought: string) => `[你刚才的思考，请据此行动]\n${thought}`,
  },
  permission: {
    denied: (rule: string) => `denied by policy: ${rule}`,
    needsConfirmation: (reason: string) => `denied by policy: [需要确认] ${reason}`,
  },
  config: {
    notAFile: (path: string) => `${path}: 不是普通文件，或文件过大`,
    unreadable: (path: string, reason: string) => `${path}: 无法读取: ${reason}`,
    syntax: (path: string, line: number, reason: string) => `${path}:${line}: JSON 语法错误: ${reason}`,
    notAnObject: (path: string, line: number) => `${path}:${line}: 应为一个 JSON 对象`,
    invalid: (place: string, key: string, rule: string) => `${place}: ${key}: ${rule}`,
    unknownKey: (place: string, key: string, near: readonly string[]) =>
      `${place}: 未知的配置项 '${key}'${near[0] === undefined ? "" : `，是否想写 '${near[0]}'？`}`,
    forbiddenInProject: (place: string, key: string) =>
      `${place}: 已忽略 '${key}'：项目内的配置文件不能设置密钥、地址或遥测`,
    loosensPermissions: (place: string, key: string) => `${place}: 已忽略 '${key}'：项目内的配置文件只能收紧权限`,
    waitsForTrust: (place: string, key: string) =>
      `${place}: 已忽略 '${key}'：此文件夹尚未受信任（使用 --trust 信任它）`,
    variableWaitsForTrust: (origin: string, name: string) =>
      `${origin}: 已忽略 ${name}：此文件夹尚未受信任（使用 --trust 信任它）`,
    invalidBaseUrl: (origin: string, name: string) => `${origin}: ${name}: 应为 http:// 或 https:// 地址`,
    emptyKey: "密钥为空，或包含换行",
    unknownProvider: (name: string, near: readonly string[], known: readonly string[]) =>
      `未知的提供商 '${name}'${near.length === 0 ? `，可用: ${known.join(", ")}` : `，是否想写 ${near.map((word) => `'${word}'`).join("、")}？`}`,
    missingKeyHint: (provider: string) => `或运行 harness9 config key ${provider} 保存一次`,
    keyWithheld: (variable: string, keyOrigin: string, baseUrl: string, baseUrlOrigin: string) =>
      `来自 ${keyOrigin} 的 ${variable} 不会发送到 ${baseUrl}（该地址来自信任级别更低的 ${baseUrlOrigin}）`,
    keyWithheldHint: (keyVariable: string, baseUrlVariable: string) =>
      `请把 ${keyVariable} 写在同一个文件里，或在环境变量中设置 ${baseUrlVariable}`,
    modelNeeded: (provider: string, baseUrl: string, models: readonly string[]) =>
      models.length === 0
        ? `请为 ${provider}（${baseUrl}）指定模型：该服务器没有列出任何模型`
        : `请为 ${provider}（${baseUrl}）指定模型，该服务器提供: ${models.join(", ")}`,
    modelsNotListed: (provider: string, baseUrl: string, reason: string) =>
      `请为 ${provider} 指定模型：无法从 ${baseUrl} 获取模型列表: ${reason}`,
    modelHint: (provider: string) => `例如 --model ${provider}/模型名`,
    unknownModel: (provider: string, model: string) => `${provider}/${model}: 价格和上下文窗口未知`,
    severalLocalModels: (provider: string, models: readonly string[]) =>
      `本地服务 ${provider} 提供多个模型，用 --model ${provider}/模型名 选择: ${models.join(", ")}`,
  },
  headless: {
    schemaNotObject: "JSON Schema 必须是一个对象",
    answerNotJson: (reason: string) => `回答不是合法的 JSON: ${reason}`,
    answerMissesSchema: (problem: string) => `回答不符合 JSON Schema: ${problem}`,
    correctAnswer: (problem: string) => `你的回答不符合要求的 JSON Schema: ${problem}
请只回答一个符合 schema 的 JSON 值。`,
    retrying: (attempt: number, maxAttempts: number, delay: string, reason: string) =>
      `↻ ${reason}；${delay} 后第 ${attempt}/${maxAttempts} 次尝试`,
    blocked: (names: string) => `有工具调用因无人确认或触发防护而被拒绝: ${names}`,
  },
  cli: {
    waitingForStdin: "正在等待标准输入；如不需要，请加 </dev/null",
    stdinTooLarge: (bytes: number) => `标准输入超过 ${bytes} 字节；请把内容存为文件并在提示中给出路径`,
    stdinBinary: "标准输入不是 UTF-8 文本；请把内容存为文件并在提示中给出路径",
  },
  offline: {
    label: "离线演示（没有连接模型）",
    connect: "要连接模型，请设置 ANTHROPIC_API_KEY 或 OPENAI_API_KEY 环境变量，或使用 --provider ollama 等本地服务",
    notUnderstood: "没有连接模型：离线演示只能执行固定格式的指令",
    help:
      "这是没有模型的离线演示，我只懂这几种指令:\n" +
      "  读取 README.md\n  写入 hello.txt: 你好\n" +
      '  替换 "旧" with "新" in hello.txt\n  运行 ls -la\n' +
      "可以用 然后 连接，例如: 写入 hello.txt: 你好 然后 运行 cat hello.txt",
    read: (path: string) => `读取 ${path}`,
    written: (path: string) => `写入 ${path}`,
    replaced: (path: string) => `修改 ${path}`,
    ran: (command: string) => `运行 ${command}`,
    done: (steps: readonly string[]) => `已完成: ${steps.join("；")}。`,
    stopped: (step: string, done: readonly string[]) =>
      `这一步失败，后面的没有执行: ${step}。${done.length === 0 ? "" : `之前已完成: ${done.join("；")}。`}`,
  },
};

/** Every string that a person or the model reads. */
export type Strings = typeof zh;
