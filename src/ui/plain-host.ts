const ASCII = /^[ -~]*$/;
const ADDRESS_HOST = /(:\/\/(?:[^\s/?#@]*@)?)([^\s/?#:@]+)/;

/**
 * The name of a host as it is looked up: in Punycode where it has letters beyond ASCII, since many of those look like
 * others. What cannot be a host stays as it is.
 */
export const plainHost = (host: string): string => {
  if (ASCII.test(host) || !URL.canParse(`http://${host}`)) return host;
  return new URL(`http://${host}`).hostname;
};

/** The address with the host's name as it is looked up. */
export const withPlainHost = (address: string): string =>
  address.replace(ADDRESS_HOST, (_, before: string, host: string) => before + plainHost(host));
