/** The limits of the listener. Sizes in bytes, times in milliseconds. */

/** The largest request body; one byte more is 413. */
export const BODY_BYTES_MAX = 3 * 1_024 * 1_024;

/** Chunks or packets of a body: each costs a microsecond. The largest body fits in 200 TLS records. */
export const BODY_PIECES_MAX = 16 * 1_024;

/** Bodies in memory for one user; more is 429. Twenty of the largest. */
export const BODIES_PER_USER_BYTES_MAX = 64 * 1_024 * 1_024;

/** The same for all users together. */
export const BODIES_BYTES_MAX = 512 * 1_024 * 1_024;

/** Unread answers of one user; above it further requests are 429. A thousand concurrent lists. */
export const ANSWERS_PER_USER_BYTES_MAX = 256 * 1_024 * 1_024;

/** The same for all users together. */
export const ANSWERS_BYTES_MAX = 1_024 * 1_024 * 1_024;

/** Smaller bodies and answers are not counted: their connection takes more memory. */
export const HELD_BYTES_MIN = 16 * 1_024;

/** Larger answers are written in pieces of this size, so that a slow reader can be distinguished from a stalled one. */
export const ANSWER_PIECE_BYTES = 256 * 1_024;

/** The request line and all headers together; more is 431. */
export const HEADER_BYTES_MAX = 64 * 1_024;

/** Header fields of a request; more is 431. A proxy may send each of a user's groups as a field. */
export const HEADER_FIELDS_MAX = 1_000;

/** Parameters of a query; more is 400. Clients send some ten. */
export const QUERY_PARAMETERS_MAX = 1_000;

/** The request target alone; more is 414. */
export const URL_BYTES_MAX = 32 * 1_024;

/** Pipelined requests that may wait on a connection. Clients that pipeline send tens of requests ahead. */
export const PIPELINED_MAX = 64;

/** The headers of the pipelined requests that wait, together. */
export const PIPELINED_BYTES_MAX = 128 * 1_024;

/** Time to send the last answer on the connection of an abusive client. */
export const LAST_ANSWER_MS_MAX = 1_000;

/** Memory of one HTTP/2 session for requests and answers; above it new streams are refused. */
export const SESSION_MEGABYTES_MAX = 64;

/** HTTP/2 headers up to this size are read and answered with 431; above it the stream is reset. */
export const HTTP2_HEADER_BYTES_MAX = 2 * HEADER_BYTES_MAX;

/** Headers of one HTTP/2 request: HPACK counts 32 bytes for each besides its text. */
export const HEADER_PAIRS_MAX = HTTP2_HEADER_BYTES_MAX / 32;

/**
 * Header blocks of one HTTP/2 connection that arrive before Node reports any of their requests: more than two buffers
 * can hold.
 */
export const HTTP2_HEADS_AHEAD_MAX = 16 * 1_024;

/** The flow-control window of a stream: body bytes that a client may send before the server reads. */
export const STREAM_WINDOW_BYTES = 256 * 1_024;

/** The flow-control window of a session. Node returns it as soon as bytes arrive, even if the streams are not read. */
export const SESSION_WINDOW_BYTES = 1_024 * 1_024;

/** Unread body bytes of one HTTP/2 connection; above it their requests are 429. */
export const UNREAD_BODIES_BYTES_MAX = 16 * 1_024 * 1_024;

/** Unread body bytes at which the connection is closed: more than a client can send within the windows of 250 streams. */
export const UNREAD_BODIES_BYTES_CUT = 80 * 1_024 * 1_024;

/**
 * Bytes received for ended requests at which the HTTP/2 connection is closed. Again more than fits in the windows of
 * 250 streams: each request with a body allows for its own.
 */
export const THROWN_AWAY_BYTES_CUT = UNREAD_BODIES_BYTES_CUT;

/**
 * Unread bytes of a body that do not count for its user: over HTTP/1.1 they would wait in a connection, which takes
 * more memory.
 */
export const UNREAD_BODY_BYTES_MIN = 32 * 1_024;

/**
 * Headers of the requests in flight on one HTTP/2 connection; above it streams are refused. 250 with a token of 16
 * KiB.
 */
export const HTTP2_HEADS_BYTES_MAX = 4 * 1_024 * 1_024;

/** Waiting HTTP/2 requests that are started in one turn of the event loop. A GET takes 0.2 ms. */
export const STREAMS_PER_TURN = 8;

/**
 * HTTP/2 header blocks read in one turn of the event loop, over all connections; at least one of each. Node takes 0.1
 * ms per stream.
 */
export const HEADS_PER_TURN = 16;

/**
 * Rapid reset: streams of one HTTP/2 connection that the client may reset before the answer. The burst is at least
 * twice the concurrent streams, the rate is that of nghttp2.
 */
export const STREAM_RESETS = { perSecond: 33, burst: 500 } as const;

/** Time for an idle HTTP/2 connection to close after GOAWAY. */
export const GOAWAY_GRACE_MS_MAX = 10_000;

/** PING and SETTINGS frames of one HTTP/2 connection. Go clients ping every 30 seconds. */
export const CONTROL_FRAMES = { perSecond: 10, burst: 200 } as const;

/**
 * WINDOW_UPDATE frames of one HTTP/2 connection: some, and one for each 64 bytes that it was sent. Clients send at most
 * two for each DATA frame, whose headers take half of that.
 */
export const WINDOW_UPDATES_BURST = 1_000;
export const WINDOW_UPDATE_BYTES_MIN = 64;

/** Unread request body discarded to keep the connection alive; beyond this the connection is closed. */
export const DISCARD_BYTES_MAX = 16 * 1_024 * 1_024;

/** Longer than the idle timeout of common load balancers, so that the balancer closes the connection. */
export const KEEP_ALIVE_MS = 120_000;

/** Idle time before TCP keep-alive probes: an idle watch would not notice a lost peer. */
export const TCP_KEEP_ALIVE_MS = 60_000;

/** Time for the headers to arrive, from the first byte or the start of the connection (slowloris). */
export const HEADERS_MS_MAX = 32_000;

/** Time for a whole request to arrive (slow bodies). */
export const REQUEST_ARRIVAL_MS_MAX = 300_000;

/** Interval at which Node checks these two timeouts. */
export const ARRIVAL_CHECK_MS = 30_000;

/** Client addresses in the rate limiter of handshakes; the least recently used one is evicted. */
export const ADDRESSES_MAX = 10_000;

export const TLS_HANDSHAKE_MS_MAX = 15_000;

/**
 * A client that reads less than one part (`PART_BYTES` in write-in-parts.ts) of its answer in this time is
 * disconnected (slow reader).
 */
export const STALL_MS_MAX = 60_000;

/** Poll interval of the certificate files. */
export const CERTIFICATE_POLL_MS = 5_000;

/** Time over which open watches end when the server stops accepting. */
export const WATCH_END_SPREAD_MS = 500;

/** Time that a closing server waits for idle connections to close. */
export const IDLE_CLOSE_WAIT_MS_MAX = 500;

/** Idle timeout of an upgraded connection, in both directions: that of the kubelet. */
export const TUNNEL_IDLE_MS_MAX = 4 * 60 * 60 * 1_000;

/** Idle timeout once one side has ended its direction. */
export const TUNNEL_HALF_MS_MAX = 30_000;
