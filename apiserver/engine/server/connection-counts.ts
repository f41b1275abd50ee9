/** What is counted of connections and their limits, for metrics. */
export interface ConnectionCounts {
  /** Requests that waited for the answer to an earlier one on their connection. */
  pipelined: number;
  /** Connections that were ended because too many requests waited on them. */
  pipelineFloods: number;
  /** Connections over HTTP/2 that were ended because of control frames or requests given up. */
  http2Floods: number;
  /** Connections that were cut because their client took nothing of an answer. */
  slowReaders: number;
  /** Connections that were closed before their TLS handshake, because too many came from their address. */
  handshakesRefused: number;
  /** TLS handshakes that failed. */
  handshakesFailed: number;
}

export function newConnectionCounts(): ConnectionCounts {
  return {
    pipelined: 0,
    pipelineFloods: 0,
    http2Floods: 0,
    slowReaders: 0,
    handshakesRefused: 0,
    handshakesFailed: 0,
  };
}
