import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProxyRules } from "../../src/providers/proxy.ts";
import { createFetch, type HttpResponse } from "../../src/providers/transport.ts";
import { modelServer } from "../helpers/model-server.ts";

const fetch = createFetch({ env: {} });

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** A forward proxy that notes what it was asked for. */
const proxyServer = async () => {
  const seen: { method: string; target: string; authorization: string | undefined }[] = [];
  const note = (request: IncomingMessage) =>
    seen.push({
      method: request.method ?? "",
      target: request.url ?? "",
      authorization: request.headers["proxy-authorization"],
    });
  const server = createServer((incoming, response) => {
    note(incoming);
    const onward = httpRequest(incoming.url ?? "", { method: incoming.method, headers: incoming.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(onward);
  });
  server.on("connect", (request, socket) => {
    note(request);
    const [host, port] = (request.url ?? "").split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return { origin: await listen(server), seen };
};

test("a request goes out as it is and the answer comes back", async () => {
  const server = await modelServer([
    { status: 201, headers: { "x-a": "1", "set-cookie": "a=b" }, chunks: ['{"ok":', "true}"] },
  ]);
  const response = await fetch(`${server.origin}/p?q=1`, { method: "POST", headers: { "X-B": "2" }, body: '"é"' });
  expect([response.ok, response.status, response.headers.get("X-A"), await response.json()]).toEqual([
    true,
    201,
    "1",
    { ok: true },
  ]);
  const [request] = server.requests;
  expect([
    request?.method,
    request?.url,
    request?.headers["x-b"],
    request?.headers["content-length"],
    request?.body,
  ]).toEqual(["POST", "/p?q=1", "2", "4", "é"]);
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
] as const)("%s is decoded", async (encoding, compress) => {
  const bytes = compress(Buffer.from("你好".repeat(5000)));
  const { origin } = await modelServer([
    { headers: { "content-encoding": encoding }, chunks: [bytes.subarray(0, 20), bytes.subarray(20)] },
  ]);
  expect(await (await fetch(origin)).text()).toBe("你好".repeat(5000));
});

test("a compressed body that is cut off is an error", async () => {
  const bytes = gzipSync(Buffer.from("x".repeat(5000)));
  const { origin } = await modelServer([
    { headers: { "content-encoding": "gzip" }, chunks: [bytes.subarray(0, 20)], end: "reset" },
  ]);
  await expect(fetch(origin).then((response) => response.text())).rejects.toThrow();
});

test("connections are kept and used again", async () => {
  const ports = new Set<number | undefined>();
  const origin = await listen(
    createServer((request, response) => {
      ports.add(request.socket.remotePort);
      response.end("x");
    }),
  );
  for (let i = 0; i < 3; i += 1) await (await fetch(origin)).text();
  expect(ports.size).toBe(1);
});

test("a kept connection that the server has closed is replaced without a word", async () => {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    // The second request on this connection meets a closed door.
    if (count === 2) request.socket.destroy();
    else response.end(String(count));
  });
  const origin = await listen(server);
  await (await fetch(origin)).text();
  expect(await (await fetch(origin, { method: "POST", body: "x" })).text()).toBe("3");
});

test("a fresh connection that breaks is not tried again", async () => {
  let count = 0;
  const server = createServer((request) => {
    count += 1;
    request.socket.destroy();
  });
  const origin = await listen(server);
  await expect(fetch(origin)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(count).toBe(1);
});

test("a body that nobody takes is not read on", async () => {
  let written = 0;
  const origin = await listen(
    createServer((_, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(65_536))) written += 65_536;
        response.once("drain", write);
      };
      write();
    }),
  );
  const controller = new AbortController();
  const response = await fetch(origin, { signal: controller.signal });
  const iterator = response.body?.[Symbol.asyncIterator]();
  await iterator?.next();
  // Time enough for a reader without back-pressure to take hundreds of megabytes.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(written).toBeLessThan(64 * 1024 * 1024);
  controller.abort();
  await expect(iterator?.next().then(() => iterator.next())).rejects.toMatchObject({ name: "AbortError" });
});

describe("redirects", () => {
  const redirect = (status: number, location: (origin: string) => string) =>
    modelServer((request, count) =>
      count === 1
        ? { status, headers: { location: location(`http://${request.headers.host}`) } }
        : { chunks: [`${request.method} ${request.url} ${request.headers.authorization}`] },
    );
  const post = { method: "POST", body: "{}", headers: { authorization: "Bearer k" } };

  test.each([307, 308])("%d on the same host sends the same again", async (status) => {
    const { origin } = await redirect(status, () => "/other");
    expect(await (await fetch(origin, post)).text()).toBe("POST /other Bearer k");
  });

  test.each([301, 302, 303])("%d answers a POST with itself: nothing is sent as a GET", async (status) => {
    const server = await redirect(status, () => "/other");
    expect((await fetch(server.origin, post)).status).toBe(status);
    expect(server.requests.length).toBe(1);
  });

  test("a GET follows 302", async () => {
    const { origin } = await redirect(302, () => "/other");
    expect(await (await fetch(origin)).text()).toBe("GET /other undefined");
  });

  test.each(["http://localhost", "http://127.0.0.1:9", "http://example.invalid", "ftp://127.0.0.1"])(
    "never to another host, port or scheme (%s)",
    async (target) => {
      const other = await modelServer([{ chunks: ["stolen"] }]);
      const server = await redirect(307, () =>
        target === "http://localhost" ? other.origin.replace("127.0.0.1", "localhost") : target,
      );
      await expect(fetch(server.origin, post)).rejects.toMatchObject({ code: "ERR_REDIRECT_REFUSED" });
      expect(other.requests).toEqual([]);
    },
  );

  test("a circle ends", async () => {
    const server = await modelServer([{ status: 307, headers: { location: "/" } }]);
    await expect(fetch(server.origin, post)).rejects.toMatchObject({ code: "ERR_REDIRECT_REFUSED" });
    expect(server.requests.length).toBe(6);
  });
});

describe("proxies", () => {
  test("a plain request goes through HTTP_PROXY with its credentials", async () => {
    const [proxy, target] = [await proxyServer(), await modelServer([{ chunks: ["hi"] }])];
    const env = { http_proxy: proxy.origin.replace("://", "://me:p%40ss@") };
    expect(await (await createFetch({ env })(`${target.origin}/x?y`, { method: "POST", body: "b" })).text()).toBe("hi");
    expect(proxy.seen).toEqual([
      {
        method: "POST",
        target: `${target.origin}/x?y`,
        authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
      },
    ]);
    expect(target.requests[0]?.headers.host).toBe(new URL(target.origin).host);
  });

  test("an https request goes through HTTPS_PROXY by CONNECT", async () => {
    const [proxy, target] = [await proxyServer(), await modelServer([{}])];
    const { host } = new URL(target.origin);
    // No certificate here: that the hello reaches a server that answers in plain text is enough.
    await expect(createFetch({ env: { HTTPS_PROXY: proxy.origin } })(`https://${host}/`)).rejects.toMatchObject({
      code: expect.stringMatching(/SSL|EPROTO|ECONNRESET/),
    });
    expect(proxy.seen).toEqual([{ method: "CONNECT", target: host, authorization: undefined }]);
  });

  test("a proxy that refuses is named", async () => {
    const server = createServer();
    server.on("connect", (_, socket) => socket.end("HTTP/1.1 407 No\r\n\r\n"));
    const origin = await listen(server);
    await expect(createFetch({ env: { HTTPS_PROXY: origin } })("https://example.invalid/")).rejects.toMatchObject({
      code: "ERR_PROXY_REFUSED",
      message: `proxy ${new URL(origin).host}: HTTP 407`,
    });
  });

  test("NO_PROXY goes straight, and the process's own environment does not count", async () => {
    const [proxy, target] = [await proxyServer(), await modelServer([{ chunks: ["hi"] }])];
    const env = { HTTP_PROXY: proxy.origin, NO_PROXY: "example.com,127.0.0.0/8" };
    expect(await (await createFetch({ env })(target.origin)).text()).toBe("hi");
    expect(proxy.seen).toEqual([]);
  });

  test.each<[string, Record<string, string>, string | undefined]>([
    ["http://a.b/", { HTTP_PROXY: "http://p:1" }, "http://p:1/"],
    ["http://a.b/", { HTTPS_PROXY: "http://p:1" }, undefined],
    ["https://a.b/", { HTTPS_PROXY: "p:1" }, "http://p:1/"],
    ["http://a.b/", { http_proxy: "http://low:1", HTTP_PROXY: "http://up:1" }, "http://low:1/"],
    ["http://a.b/", { http_proxy: "", HTTP_PROXY: "http://up:1" }, "http://up:1/"],
    ["http://a.b/", { HTTP_PROXY: "http://p:1", NO_PROXY: "*" }, undefined],
    ["http://a.b/", { HTTP_PROXY: "http://p:1", no_proxy: "x, B" }, undefined],
    ["http://x.a.b/", { HTTP_PROXY: "http://p:1", NO_PROXY: ".a.b" }, undefined],
    ["http://xa.b/", { HTTP_PROXY: "http://p:1", NO_PROXY: "a.b" }, "http://p:1/"],
    ["http://a.b:81/", { HTTP_PROXY: "http://p:1", NO_PROXY: "a.b:80" }, "http://p:1/"],
    ["http://a.b/", { HTTP_PROXY: "http://p:1", NO_PROXY: "a.b:80" }, undefined],
    ["http://[::1]:8/", { HTTP_PROXY: "http://p:1", NO_PROXY: "::1" }, undefined],
    ["http://[::1]:8/", { HTTP_PROXY: "http://p:1", NO_PROXY: "[::1]:8" }, undefined],
    ["http://10.1.2.3/", { HTTP_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8" }, undefined],
    ["http://11.1.2.3/", { HTTP_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8" }, "http://p:1/"],
  ])("%s with %j", (url, env, expected) => {
    expect(createProxyRules(env)(new URL(url))?.href).toBe(expected);
  });

  test("a proxy that speaks another protocol is refused without showing its password", () => {
    const rules = createProxyRules({ HTTP_PROXY: "socks5://me:secret@p:1" });
    expect(() => rules(new URL("http://a.b/"))).toThrow("unsupported proxy address (socks5://…)");
  });
});

describe("an abort", () => {
  test("before the answer rejects", async () => {
    const server = await modelServer([{ end: "open" }]);
    const controller = new AbortController();
    const response = fetch(server.origin, { signal: controller.signal }).then((answer: HttpResponse) => answer.text());
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await expect(response).rejects.toMatchObject({ name: "AbortError" });
    await server.cut;
  });

  test("after the answer does nothing", async () => {
    const { origin } = await modelServer([{ chunks: ["x"] }]);
    const controller = new AbortController();
    const response = await fetch(origin, { signal: controller.signal });
    expect(await response.text()).toBe("x");
    controller.abort();
  });
});
