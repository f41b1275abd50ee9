/** Formats `host:port`, with brackets around an IPv6 address. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
