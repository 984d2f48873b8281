/**
 * What the build puts in the place of two globals inside the model SDKs' files, because touching Node's own loads undici:
 * `Headers`, and `FormData`, which they only compare with (`body instanceof FormData`).
 */
export { LightHeaders as Headers } from "./light-headers.ts";

export class FormData {}
