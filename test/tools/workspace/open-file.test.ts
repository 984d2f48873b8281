import { closeSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { zh } from "../../../src/text/zh.ts";
import { openRegularFile } from "../../../src/tools/workspace/open-file.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

it("opens the file that was checked, and no other that a link has put there since", () => {
  const [dir, outside] = [tempDir(), tempDir()];
  writeFileSync(join(dir, "f"), "mine");
  writeFileSync(join(outside, "f"), "secret");
  symlinkSync(outside, join(dir, "sub"));
  const { fd, stats } = openRegularFile({ real: join(dir, "f"), shown: "f" }, zh.files);
  expect([readFileSync(fd, "utf8"), stats.size]).toEqual(["mine", 4]);
  closeSync(fd);
  const moved = () => openRegularFile({ real: join(dir, "sub", "f"), shown: "sub/f" }, zh.files);
  expect(moved).toThrow(expect.objectContaining({ kind: "outside" }));
});
