const BYTE = "(?:25[0-5]|(?:2[0-4]|1\\d|[1-9])?\\d)";
const LOOPBACK = new RegExp(`^(?:localhost|127(?:\\.${BYTE}){3}|::1|\\[::1\\])$`, "i");

/** Whether a host, without a port, always means this machine. An IPv6 address may be in brackets, as in a URL. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);
