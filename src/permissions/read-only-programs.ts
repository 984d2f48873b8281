import type { Arguments, Program } from "./read-only-arguments.ts";

// What is missing here asks. Missing on purpose: what writes (`sort -o`), runs (`rg --pre`), follows links (`grep -R`),
// or reads names from a file (`--files0-from`).

const words = (text: string): readonly string[] => text.split(" ");

const TEXT: Program = { operands: "text" };
const CHECKSUM: Program = { flags: "btz", long: words("binary text zero tag") };

const isFilter = ({ operands: [filter] }: Arguments): boolean =>
  // A filter can read the environment and modules.
  filter?.text === undefined ||
  !/\b(env|ENV|import|include|input_filename|get_search_list|modulemeta)\b/.test(filter.text ?? "");

const isFormat = ({ operands }: Arguments): boolean => operands.every(({ text }) => text?.startsWith("+"));

/** `5p`, `1,40p`, `$p`, `3q`: lines by their numbers. */
const isLineScript = ({ options, operands: [script] }: Arguments): boolean =>
  (options.has("-n") || options.has("--quiet") || options.has("--silent")) &&
  /^(\d+|\$)(,(\+?\d+|\$))?p(;(\d+|\$)(,(\+?\d+|\$))?p)*(;\d+q)?;?$/.test(script?.text ?? "");

const GREP: Program = {
  flags: "abcEFGhHiIlLnoPqrsTUvwxyzZ",
  values: "eABCm",
  files: "f",
  numbers: true,
  long: words(
    "count color? colour? extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case files-with-matches files-without-match line-number only-matching quiet silent recursive no-messages invert-match word-regexp line-regexp regexp= after-context= before-context= context= max-count= include= exclude= exclude-dir= with-filename no-filename text binary-files= null null-data byte-offset initial-tab line-buffered label= file@",
  ),
  operands: "pattern",
  patternFrom: ["-e", "-f", "--regexp", "--file"],
  readsFolders: (options) => options.has("-r") || options.has("--recursive"),
};

const FD: Program = {
  flags: "aFgHiIpsuq01",
  values: "dEtejSc",
  long: words(
    "hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex fixed-strings absolute-path full-path max-depth= min-depth= exact-depth= exclude= type= extension= size= changed-within= changed-before= newer= older= print0 max-results= quiet show-errors one-file-system color= threads= prune",
  ),
  operands: "pattern",
  exposed: true,
};

/** Programs that read and print, with the options that keep it so. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  ls: {
    flags: "aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1",
    // BSD's take no value: then it is a path.
    files: "IwT",
    long: words(
      "all almost-all author escape ignore-backups color? directory classify? file-type format= full-time group-directories-first human-readable si hide= hyperlink? indicator-style= inode ignore= kibibytes dereference dereference-command-line numeric-uid-gid literal no-group hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero block-size=",
    ),
  },
  cat: {
    flags: "AbeEnstTuv",
    long: words("show-all number number-nonblank show-ends show-nonprinting show-tabs squeeze-blank"),
  },
  tac: { flags: "br", values: "s", long: words("before regex separator=") },
  rev: {},
  head: {
    flags: "qvz",
    values: "nc",
    numbers: true,
    long: words("lines= bytes= quiet silent verbose zero-terminated"),
  },
  tail: {
    flags: "qvz",
    values: "nc",
    numbers: true,
    long: words("lines= bytes= quiet silent verbose zero-terminated"),
  },
  wc: { flags: "clmwL", long: words("bytes chars lines words max-line-length total=") },
  nl: { flags: "p", values: "bdfhilnsvw" },
  fold: { flags: "bs", values: "w" },
  paste: { flags: "sz", values: "d" },
  column: {
    flags: "tx",
    values: "scoN",
    long: words("table separator= output-separator= table-columns= output-width="),
  },
  file: {
    flags: "bhikLNr0",
    long: words("brief mime mime-type mime-encoding dereference no-dereference keep-going"),
    exposed: true,
  },
  stat: {
    flags: "LftxnFlrqs",
    values: "c",
    long: words("dereference file-system format= printf= terse cached="),
  },
  du: {
    flags: "0abchHklmPsSxD",
    values: "dtB",
    long: words(
      "all apparent-size block-size= bytes total human-readable max-depth= si summarize separate-dirs one-file-system threshold= time? exclude= null inodes",
    ),
  },
  df: {
    flags: "aHhiklPT",
    values: "Btx",
    long: words("all human-readable si inodes local portability print-type output? total type= exclude-type="),
  },
  pwd: { flags: "LP", operands: "text" },
  cd: { flags: "LP", max: 1, accepts: ({ operands }) => operands.length === 1 && operands[0]?.text !== "-" },
  basename: { flags: "az", values: "s", operands: "text", long: words("multiple suffix= zero") },
  dirname: { flags: "z", operands: "text", long: words("zero") },
  realpath: {
    flags: "eLmPqsz",
    long: words(
      "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to@ relative-base@",
    ),
  },
  readlink: {
    flags: "femnqsvz",
    long: words("canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero"),
  },
  which: { flags: "as", operands: "text" },
  type: { flags: "aftpP", operands: "text" },
  command: { flags: "pvV", operands: "text", accepts: ({ options }) => options.has("-v") || options.has("-V") },
  true: TEXT,
  false: TEXT,
  ":": TEXT,
  exit: TEXT,
  sleep: TEXT,
  whoami: {},
  groups: TEXT,
  nproc: { long: words("all ignore=") },
  arch: {},
  uname: {
    flags: "asnrvmpio",
    long: words(
      "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system",
    ),
  },
  id: { flags: "agGnruz", operands: "text", long: words("group groups name real user zero") },
  date: {
    flags: "uR",
    values: "d",
    files: "r",
    optional: "I",
    long: words("utc universal date= iso-8601? rfc-3339= rfc-email reference@"),
    operands: "text",
    exposed: true,
    accepts: isFormat,
  },
  seq: { flags: "w", values: "fs", numbers: true, operands: "text", long: words("equal-width format= separator=") },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: {
    flags: "0abcFHiIlnNoPpqsSUvwx",
    values: "ABCeEgjmMrtTd",
    long: words(
      "after-context= before-context= context= context-separator= count count-matches color= colors= column no-column case-sensitive crlf encoding= engine= files files-with-matches files-without-match fixed-strings glob= iglob= glob-case-insensitive heading no-heading ignore-case include-zero invert-match json line-number no-line-number line-regexp max-columns= max-columns-preview max-count= max-depth= max-filesize= multiline multiline-dotall no-config no-messages null only-matching passthru pcre2 pretty quiet regexp= replace= smart-case sort= sortr= stats text threads= trim type= type-not= type-list vimgrep with-filename no-filename word-regexp",
    ),
    operands: "pattern",
    patternFrom: ["-e", "--regexp", "--files", "--type-list"],
    exposed: true,
    // It passes hidden files over, but not those that a glob asks for.
    readsFolders: (options) => options.has("-g") || options.has("--glob") || options.has("--iglob"),
  },
  fd: FD,
  fdfind: FD,
  sort: {
    flags: "bdfghiMnRrsuVmcCz",
    values: "ktS",
    long: words(
      "key= field-separator= reverse numeric-sort unique human-numeric-sort version-sort general-numeric-sort ignore-case ignore-leading-blanks ignore-nonprinting dictionary-order month-sort random-sort stable check? merge zero-terminated sort= parallel= buffer-size=",
    ),
    exposed: true,
  },
  uniq: {
    flags: "cdDiuz",
    values: "fsw",
    long: words(
      "count repeated all-repeated? group? ignore-case unique zero-terminated skip-fields= skip-chars= check-chars=",
    ),
    max: 1,
    exposed: true,
  },
  cut: {
    flags: "nsz",
    values: "bcdf",
    long: words("bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated"),
  },
  tr: { flags: "cCdst", operands: "text", long: words("complement delete squeeze-repeats truncate-set1") },
  diff: {
    flags: "abBcdeEHinNpqrstTuvwyZ",
    values: "CFIULWx",
    long: words(
      "brief unified? context? recursive ignore-case ignore-all-space ignore-space-change ignore-blank-lines ignore-trailing-space ignore-tab-expansion strip-trailing-cr text side-by-side suppress-common-lines width= new-file label= exclude= color? minimal report-identical-files normal ed rcs show-c-function ignore-matching-lines= left-column expand-tabs no-dereference tabsize=",
    ),
    // Two folders are compared file by file.
    readsFolders: () => true,
  },
  cmp: { flags: "bls", values: "in", long: words("print-bytes ignore-initial= bytes= verbose quiet silent") },
  comm: { flags: "123iz", long: words("check-order nocheck-order output-delimiter= total zero-terminated") },
  tree: {
    flags: "adfhipsugDFrtUvcQNnCASJX",
    values: "LPI",
    long: words(
      "dirsfirst filesfirst noreport gitignore prune du si charset= filelimit= sort= matchdirs ignore-case inodes device timefmt= metafirst",
    ),
    exposed: true,
  },
  jq: {
    flags: "aceChjMnrsSR",
    long: words(
      "compact-output null-input raw-output raw-output0 join-output ascii-output sort-keys slurp color-output monochrome-output exit-status raw-input tab indent= stream seq arg== argjson==",
    ),
    operands: "pattern",
    exposed: true,
    accepts: isFilter,
  },
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  md5sum: CHECKSUM,
  cksum: {},
  shasum: { flags: "bt", values: "a", long: words("algorithm= binary text") },
  od: {
    flags: "abcdfhilosvx",
    values: "AjNSt",
    long: words("address-radix= skip-bytes= read-bytes= format= output-duplicates"),
  },
  hexdump: { flags: "bcCdovx", values: "ns" },
  // It knows no clusters: `-ps` is one option, and what follows it a file.
  xxd: { flags: "abeEipu", files: "cgls", max: 1, exposed: true },
  strings: { flags: "a", values: "nt", long: words("all bytes= radix=") },
  sed: {
    flags: "nEr",
    long: words("quiet silent regexp-extended"),
    operands: "pattern",
    exposed: true,
    accepts: isLineScript,
  },
};
