import { expect, test } from "vitest";
import { completeFiles, createFileList } from "../../../src/ui/input/file-completion.ts";
import { loadRank, plainRank } from "../../../src/ui/input/fuzzy.ts";

const rank = await loadRank();
const files = [
  "src/ui/app.tsx",
  "README.md",
  ".gitignore",
  "src/map/apple.ts",
  "src/app.ts",
  "app/x/deep.ts",
  "package.json",
];
const list = createFileList(files);

const paths = (query: string, limit = 20) => completeFiles(query, list, rank, limit).items.map(({ path }) => path);

test("folders are listed with the files, shallow ones first, hidden ones last of their depth", () => {
  expect(list.paths).toEqual([
    "README.md",
    "app/",
    "package.json",
    "src/",
    ".gitignore",
    "app/x/",
    "src/app.ts",
    "src/map/",
    "src/ui/",
    "app/x/deep.ts",
    "src/map/apple.ts",
    "src/ui/app.tsx",
  ]);
});

test("folders that the list has already are not listed twice", () => {
  expect(createFileList(["a/", "a/b.ts", "empty/"]).paths).toEqual(["a/", "empty/", "a/b.ts"]);
});

test("an empty query lists the shallow ones first", () => {
  expect(paths("", 3)).toEqual(["README.md", "app/", "package.json"]);
});

test("good matches of the last part come before those of folders, and are marked there", () => {
  expect(paths("app").slice(0, 4).sort()).toEqual(["app/", "src/app.ts", "src/map/apple.ts", "src/ui/app.tsx"]);
  expect(paths("app").at(-1)).toBe("app/x/deep.ts");
  expect(completeFiles("appl", list, rank, 1).items).toEqual([{ path: "src/map/apple.ts", positions: [8, 9, 10, 11] }]);
});

test("a folder with its slash lists what is in it, shallow ones first", () => {
  expect(paths("src/")).toEqual(["src/app.ts", "src/map/", "src/ui/", "src/map/apple.ts", "src/ui/app.tsx"]);
  expect(completeFiles("./src/", list, rank, 2).total).toBe(5);
});

test("a query with a slash matches the whole path", () => {
  expect(paths("src/ap")[0]).toBe("src/app.ts");
  expect(paths("ui/ap")[0]).toBe("src/ui/app.tsx");
});

test("nothing that matches is listed twice, and the total counts each once", () => {
  const { items, total } = completeFiles("a", list, rank, 100);
  expect(new Set(items.map(({ path }) => path)).size).toBe(items.length);
  expect(total).toBe(items.length);
});

test("it works before the library is there", () => {
  expect(completeFiles("app", list, plainRank, 3).items[0]?.path).toBe("app/");
  expect(completeFiles("zzz", list, plainRank, 3)).toEqual({ items: [], total: 0 });
});
