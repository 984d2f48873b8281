// The smallest agent that can play the scenarios: what Node itself costs. Chat Completions only; prints the answer at the end.
const http = require("node:http");
const { spawn } = require("node:child_process");
const { readFile } = require("node:fs/promises");

const url = new URL(`${process.env.OPENAI_BASE_URL}/chat/completions`);
const agent = new http.Agent({ keepAlive: true });
const tool = (name, key) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { [key]: { type: "string" } }, required: [key] } },
});
const tools = [tool("bash", "command"), tool("read_file", "path")];
const messages = [{ role: "user", content: process.argv[2] }];

async function* complete() {
  const body = JSON.stringify({ model: "floor", stream: true, tools, messages });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const response = await new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", agent, headers }, resolve).on("error", reject);
    request.setNoDelay(true);
    request.end(body);
  });
  let buffer = "";
  for await (const text of response.setEncoding("utf8")) {
    const lines = (buffer + text).split("\n");
    buffer = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice(6)).choices[0]?.delta ?? {};
  }
}

// The smallest that keeps a command in the project.
const cwd = process.cwd();
const sandbox = [
  "bwrap",
  "--ro-bind",
  "/",
  "/",
  "--dev",
  "/dev",
  "--proc",
  "/proc",
  "--bind",
  cwd,
  cwd,
  "--unshare-pid",
  "--",
];
const confined = process.env.FLOOR_SANDBOX ? sandbox : [];

const runCommand = ({ command }) =>
  new Promise((resolve) => {
    const [file, ...args] = [...confined, "bash", "-c", command];
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (text) => (output += text));
    child.on("close", () => resolve(output));
  });

const runCall = ({ name, text }) =>
  name === "bash" ? runCommand(JSON.parse(text)) : readFile(JSON.parse(text).path, "utf8");

(async () => {
  for (;;) {
    let content = "";
    const calls = [];
    for await (const delta of complete()) {
      content += delta.content ?? "";
      for (const { index, id, function: part } of delta.tool_calls ?? []) {
        calls[index] ??= { id, name: part.name, text: "" };
        calls[index].text += part.arguments;
      }
    }
    if (calls.length === 0) return process.stdout.write(`${content}\n`, () => process.exit(0));
    const tool_calls = calls.map(({ id, name, text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
    messages.push({ role: "assistant", content: null, tool_calls });
    const results = await Promise.all(calls.map(runCall));
    messages.push(...results.map((output, at) => ({ role: "tool", tool_call_id: calls[at].id, content: output })));
  }
})();
