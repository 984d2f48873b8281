/**
 * A value as JSON that a terminal can be shown: JSON itself leaves the control characters above ASCII as they are.
 * `mask` goes over every string.
 */
export const printableJson = (value: unknown, options: { mask?: (text: string) => string; indent?: number } = {}) => {
  const { mask = (text) => text, indent } = options;
  const json = JSON.stringify(
    value,
    (_key, inner: unknown) => (typeof inner === "string" ? mask(inner) : inner),
    indent,
  );
  return json.replace(/[\x7f-\x9f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`);
};
