/** What `--output-format` takes. */
export const OUTPUT_FORMATS = ["text", "json", "stream-json", "events"] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
