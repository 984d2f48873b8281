type Env = Readonly<Record<string, string | undefined>>;

/**
 * Which proxy a request takes, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY of `env` (lower case first, an empty one is unset).
 * NO_PROXY as curl reads it: host names with their subdomains, `host:port`, addresses, CIDR ranges, `*`.
 * @throws ProxyConfigError (when asked) for an address that is no http(s) proxy.
 */
export const createProxyRules = (env: Env): ((url: URL) => URL | undefined) => {
  const read = (name: string): string => env[name.toLowerCase()] || env[name] || "";
  const exceptions = read("NO_PROXY")
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  return (url) => {
    const address = read(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
    if (address === "" || exceptions.some((entry) => isException(entry, url))) return undefined;
    return parseProxy(address);
  };
};

export class ProxyConfigError extends Error {
  readonly code = "ERR_PROXY_ADDRESS";
}

const parseProxy = (address: string): URL => {
  const text = address.includes("://") ? address : `http://${address}`;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    // The address may hold a password: only its scheme is named.
    throw new ProxyConfigError(`unsupported proxy address (${text.slice(0, text.indexOf("://"))}://…)`);
  return new URL(text);
};

const isException = (entry: string, url: URL): boolean => {
  if (entry === "*") return true;
  const host = bareHost(url.hostname);
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false;
  const pattern = bareHost(name)
    .toLowerCase()
    .replace(/^\*?\./, "");
  if (pattern.includes("/")) return isInRange(host, pattern);
  return pattern !== "" && (host === pattern || host.endsWith(`.${pattern}`));
};

const bareHost = (host: string): string => host.replace(/^\[|\]$/g, "");

/** Whether an IPv4 address is in a range such as 10.0.0.0/8. */
const isInRange = (host: string, range: string): boolean => {
  const [network = "", bits = ""] = range.split("/");
  const [a, b] = [ipv4(host), ipv4(network)];
  const width = Number(bits);
  if (a === undefined || b === undefined || !(width >= 0 && width <= 32)) return false;
  const size = 2 ** (32 - width);
  return Math.floor(a / size) === Math.floor(b / size);
};

const ipv4 = (text: string): number | undefined => {
  const parts = text.split(".").map(Number);
  if (parts.length !== 4 || !parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255))
    return undefined;
  return parts.reduce((value, part) => value * 256 + part, 0);
};
