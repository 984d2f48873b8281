/** Folders of what tools make and fetch again, left out with and without a .gitignore. */
const FOLDERS: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".venv",
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
  ".tox",
  ".gradle",
  ".next",
  ".nuxt",
  ".svelte-kit",
  ".turbo",
  ".parcel-cache",
  ".terraform",
  // What other systems keep of versions, as git its .git.
  ".hg",
  ".svn",
  ".jj",
]);

/** `siblings`: the sorted names beside it. */
export const isAlwaysOut = (folderName: string, siblings: readonly string[]): boolean =>
  FOLDERS.has(folderName) || (folderName === "target" && siblings.includes("Cargo.toml"));
