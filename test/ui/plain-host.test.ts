import fc from "fast-check";
import { expect, test } from "vitest";
import { plainHost, withPlainHost } from "../../src/ui/plain-host.ts";

test.each([
  ["https://example.com/a?b#c", "https://example.com/a?b#c"],
  ["https://аpple.com/login", "https://xn--pple-43d.com/login"],
  ["https://me@аpple.com:8080/ä", "https://me@xn--pple-43d.com:8080/ä"],
  ["https://good.example@аpple.com", "https://good.example@xn--pple-43d.com"],
  ["http://münchen.de", "http://xn--mnchen-3ya.de"],
  ["https://例え.jp/道", "https://xn--r8jz45g.jp/道"],
  ["src/日本.md", "src/日本.md"],
  ["#überschrift", "#überschrift"],
  ["https://ä b", "https://xn--4ca b"],
  ["https://ä%", "https://ä%"],
  ["", ""],
])("%j leads to %j", (address, real) => {
  expect(withPlainHost(address)).toBe(real);
});

test("no text makes it fail, and what is ASCII stays as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), (any, ascii) => {
      expect(typeof withPlainHost(`https://${any}`)).toBe("string");
      expect(typeof plainHost(any)).toBe("string");
      expect(withPlainHost(`https://${ascii}`)).toBe(`https://${ascii}`);
    }),
  );
});
