import { expect, test } from "vitest";
import { isLoopback, sameOrigin, shownAddress } from "../../src/text/address.ts";

test.each([
  ["http://localhost:11434/v1", true],
  ["http://127.0.0.1/", true],
  ["https://127.8.9.10:1/", true],
  ["http://[::1]:8080/v1", true],
  ["http://LOCALHOST/", true],
  ["http://localhost.evil.example/", false],
  ["http://127.0.0.1.evil.example/", false],
  ["http://localhost@evil.example/", false],
  ["http://evil.example/#localhost", false],
  ["http://evil.example\\@localhost/", false],
  ["http://0.0.0.0/", false],
  ["http://10.0.0.1/", false],
  ["http://169.254.169.254/", false],
  ["file://localhost/etc/passwd", false],
  ["localhost:1234", false],
  ["", false],
])("loopback %j: %s", (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});

test.each([
  ["https://api.openai.com/v1", "https://api.openai.com/", true],
  ["https://API.openai.com:443/v1", "https://api.openai.com/v1", true],
  ["http://api.openai.com/v1", "https://api.openai.com/v1", false],
  ["https://api.openai.com:8443/v1", "https://api.openai.com/v1", false],
  ["https://api.openai.com@evil.example/", "https://api.openai.com/v1", false],
  ["nonsense", "nonsense", false],
])("%j and %j have one origin: %s", (a, b, expected) => {
  expect(sameOrigin(a, b)).toBe(expected);
});

test.each([
  ["https://api.openai.com/v1", "https://api.openai.com/v1"],
  ["https://api.anthropic.com", "https://api.anthropic.com"],
  ["https://person:secret@gateway.example/v1", "https://gateway.example/v1"],
  ["https://secret@gateway.example", "https://gateway.example/"],
  ["https://gateway.example/v1?key=secret#secret", "https://gateway.example/v1"],
  ["nonsense", "nonsense"],
])("%j is shown as %j", (address, shown) => {
  expect(shownAddress(address)).toBe(shown);
});
