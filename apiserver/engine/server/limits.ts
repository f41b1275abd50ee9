/** The bounds of the listener. Sizes in bytes, times in milliseconds. */

/** The largest request body that is read; one byte more is 413. */
export const BODY_BYTES_MAX = 3 * 1_024 * 1_024;

/** In how many pieces a body may come, chunks or packets: each costs a microsecond. The largest body fits in 200 records of TLS. */
export const BODY_PIECES_MAX = 16 * 1_024;

/** Bodies that are in memory for one user; more is 429. Twenty of the largest. */
export const BODIES_PER_USER_BYTES_MAX = 64 * 1_024 * 1_024;

/** The same for all users together. */
export const BODIES_BYTES_MAX = 512 * 1_024 * 1_024;

/** Answers that one user has not taken yet; while there are more, further requests are 429. A thousand lists that are sent at once. */
export const ANSWERS_PER_USER_BYTES_MAX = 256 * 1_024 * 1_024;

/** The same for all users together. */
export const ANSWERS_BYTES_MAX = 1_024 * 1_024 * 1_024;

/** Smaller bodies and answers are not counted: there is one for each connection, which takes more itself. */
export const HELD_BYTES_MIN = 16 * 1_024;

/** An answer above this is handed to its connection in pieces of this size, so that a slow client is told from one that takes nothing. */
export const ANSWER_PIECE_BYTES = 256 * 1_024;

/** The request line and all headers together; more is 431. */
export const HEADER_BYTES_MAX = 64 * 1_024;

/** The request target alone; more is 414. */
export const URL_BYTES_MAX = 32 * 1_024;

/** How many requests may wait on a connection for the answer to an earlier one. Clients that send ahead do so by tens. */
export const PIPELINED_MAX = 64;

/** The heads of those that wait, together. */
export const PIPELINED_BYTES_MAX = 128 * 1_024;

/** How long the answer may take with which a connection ends that a client has misused. */
export const LAST_ANSWER_MS_MAX = 1_000;

/** What one HTTP/2 connection may have in memory of requests and answers; beyond, it takes no further requests until there is less. */
export const SESSION_MEGABYTES_MAX = 64;

/** A head over HTTP/2 that is read to be answered with 431; beyond, its stream is reset. */
export const HTTP2_HEADER_BYTES_MAX = 2 * HEADER_BYTES_MAX;

/** Headers of one HTTP/2 request: as many as its bytes may hold, each of which counts 32 more. */
export const HEADER_PAIRS_MAX = HTTP2_HEADER_BYTES_MAX / 32;

/** Heads of one HTTP/2 connection that came in one go, before any request of them is known: more than two of its buffers can hold. */
export const HTTP2_HEADS_AHEAD_MAX = 16 * 1_024;

/** How much of one body a client may send over HTTP/2 before it is read. */
export const STREAM_WINDOW_BYTES = 256 * 1_024;

/** How much of all bodies of a connection may be on its way: Node gives it back as soon as it has come, whoever reads it. */
export const SESSION_WINDOW_BYTES = 1_024 * 1_024;

/** What bodies of one HTTP/2 connection take that came and nobody has read; beyond, the requests they are for are 429. */
export const UNREAD_BODIES_BYTES_MAX = 16 * 1_024 * 1_024;

/** The same, where it is cut: more than a client sends that keeps to the windows of 250 streams. */
export const UNREAD_BODIES_BYTES_CUT = 80 * 1_024 * 1_024;

/**
 * What comes over one HTTP/2 connection for requests that are over; beyond, it is cut. Again more than fits in the windows of 250 streams: each request
 * with a body makes room for its own.
 */
export const THROWN_AWAY_BYTES_CUT = UNREAD_BODIES_BYTES_CUT;

/** So much of one that is not read is not counted for its user: over HTTP/1.1 it would wait in a connection of its own, which takes more. */
export const UNREAD_BODY_BYTES_MIN = 32 * 1_024;

/** The heads of the requests under way on one HTTP/2 connection; beyond, requests are refused unbegun. 250 with a token of 16 KiB. */
export const HTTP2_HEADS_BYTES_MAX = 4 * 1_024 * 1_024;

/** How many requests are begun in one turn of the event loop of those that connections have sent ahead over HTTP/2. A GET takes 0.2 ms. */
export const STREAMS_PER_TURN = 8;

/** How many heads are read over HTTP/2 in one turn of the event loop, of all connections; one of each at least. Node takes 0.1 ms for a stream. */
export const HEADS_PER_TURN = 16;

/** Requests of one HTTP/2 connection that end before their answer: twice all that may be under way, then as many as nghttp2 allows. */
export const STREAM_RESETS = { perSecond: 33, burst: 500 } as const;

/** How long an HTTP/2 connection may take to go that has nothing under way any more, and takes no further requests. */
export const GOAWAY_GRACE_MS_MAX = 10_000;

/** PING and SETTINGS of one HTTP/2 connection: clients of Go ping every half a minute. */
export const CONTROL_FRAMES = { perSecond: 10, burst: 200 } as const;

/** How much of a body nobody reads is thrown away to keep the connection; behind that it is cut. */
export const DISCARD_BYTES_MAX = 16 * 1_024 * 1_024;

/** Longer than the idle time of common load balancers, so that it is they who close a connection. */
export const KEEP_ALIVE_MS = 120_000;

/** How long nothing comes over a connection before TCP asks whether its other end is still there: a watch would not notice by itself. */
export const TCP_KEEP_ALIVE_MS = 60_000;

/** The time for the headers to arrive, from the first byte or the start of the connection. */
export const HEADERS_MS_MAX = 32_000;

/** The time for a whole request to arrive. */
export const REQUEST_ARRIVAL_MS_MAX = 300_000;

/** How often these two are looked at. */
export const ARRIVAL_CHECK_MS = 30_000;

/** Of how many addresses it is known how many handshakes they had. The one that was away for longest is forgotten. */
export const ADDRESSES_MAX = 10_000;

export const TLS_HANDSHAKE_MS_MAX = 15_000;

/** A client that takes nothing of its answer for this long is cut off: less than a part (`PART_BYTES` in write-in-parts.ts), to be exact. */
export const STALL_MS_MAX = 60_000;

/** How often the certificate files are looked at. */
export const CERTIFICATE_POLL_MS = 5_000;

/** The time over which the watches end that are open when the server stops accepting. */
export const WATCH_END_SPREAD_MS = 500;

/** How long a closing server waits for connections without a request to go by themselves. */
export const IDLE_CLOSE_WAIT_MS_MAX = 500;

/** How long nothing may come over an upgraded connection in either direction: as long as a node agent waits. */
export const TUNNEL_IDLE_MS_MAX = 4 * 60 * 60 * 1_000;

/** The same once one end has said all that it has to say. */
export const TUNNEL_HALF_MS_MAX = 30_000;
