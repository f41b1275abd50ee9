/** Counters of connections and their limits, for metrics. */
export interface ConnectionCounts {
  /** Requests that waited for the answer to an earlier one on their connection. */
  pipelined: number;
  /** Connections closed because too many pipelined requests waited on them. */
  pipelineFloods: number;
  /** HTTP/2 connections closed with ENHANCE_YOUR_CALM: control frame floods, rapid resets, and other abuse. */
  http2Floods: number;
  /** Connections destroyed because their client stopped reading (slow readers). */
  slowReaders: number;
  /** Connections that were closed before their TLS handshake, because too many came from their address. */
  handshakesRefused: number;
  /** Connections that were closed because too many were open, of their address or in all. */
  connectionsRefused: number;
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
    connectionsRefused: 0,
    handshakesFailed: 0,
  };
}
