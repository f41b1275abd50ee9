/**
 * The groups that a client may agree on a key with in a TLS handshake: those of Go. OpenSSL would also take finite fields up to
 * `ffdhe8192`, with which one handshake keeps a server busy for more than 100 ms, before anybody has said who they are. For `ecdhCurve`.
 */
export const KEY_EXCHANGE_GROUPS = 'X25519:P-256:P-384:P-521';
