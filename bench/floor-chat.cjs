// The smallest chat: echoes keys, sends a line, writes what comes. What Node itself costs in a terminal.
const http = require("node:http");

const url = new URL(`${process.env.OPENAI_BASE_URL}/chat/completions`);
let line = "";

const ask = (content) => {
  const body = JSON.stringify({ model: "floor", stream: true, messages: [{ role: "user", content }] });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const request = http.request(url, { method: "POST", headers }, async (response) => {
    let buffer = "";
    for await (const text of response.setEncoding("utf8")) {
      const lines = (buffer + text).split("\n");
      buffer = lines.pop();
      for (const one of lines)
        if (one.startsWith("data: {"))
          process.stdout.write((JSON.parse(one.slice(6)).choices[0]?.delta.content ?? "").replaceAll("\n", "\r\n"));
    }
  });
  request.end(body);
};

process.stdin.setRawMode(true);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (keys) => {
  for (const key of keys) {
    if (key === "\r") ask(line);
    line = key === "\r" ? "" : key === "\x7f" ? line.slice(0, -1) : line + key;
    process.stdout.write(key === "\x7f" ? "\b \b" : key === "\r" ? "\r\n" : key);
  }
});
