import type { ApiObject, GroupVersionResource } from '../../../shared/object/object';
import type { RandomInt } from '../../../shared/meta/generate-name';

/** The server to which a request is proxied. */
export interface Destination {
  readonly scheme: 'http' | 'https';
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Not encoded; empty, or with a leading slash. */
  readonly path: string;
  /** Encoded, without the question mark. Absent: the query of the request. */
  readonly query?: string;
  /**
   * The trust in the peer. An `agent` of a node gets a client certificate of this server, and its serving
   * certificate is verified unless it is `unverified`. Peers of type `any` get no client certificate and
   * are not verified.
   */
  readonly peer: 'agent' | 'unverified agent' | 'any';
  /** The host must be resolved and checked against the addresses that are not allowed. */
  readonly isChecked?: boolean;
  /** More addresses that are not allowed, by port, if the host is checked. */
  readonly except?: readonly SocketAddress[];
}

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** How to reach the agents of nodes. */
export interface AgentRules {
  readonly scheme: 'http' | 'https';
  /** The default port. */
  readonly port: number;
  /** The preferred types of node addresses, in order. */
  readonly addressTypes: readonly string[];
}

/** What `locate` uses to find a destination. */
export interface ConnectionReader {
  /** Reads the current object. Throws NotFound. */
  read<T extends ApiObject>(
    resource: Pick<GroupVersionResource, 'group' | 'resource'>,
    name: string,
    namespace?: string,
  ): Promise<T>;
  readonly agents: AgentRules;
  readonly randomInt: RandomInt;
}

/** One request. `T` is the type of the options. */
export interface ConnectionRequest<T = unknown> {
  readonly namespace: string;
  /** The name in the path, possibly with a scheme and a port. */
  readonly name: string;
  /** After admission. */
  readonly options: T;
}

export type Carried = 'upgrades' | 'requests' | 'text';

/** A subresource that proxies to another server. */
export interface Connection<T = unknown> {
  /**
   * `upgrades`: upgraded connections only. `requests`: any request with any subpath, and upgrades. `text`: a
   * plain text response of any duration.
   */
  readonly carries: Carried;
  /** Parses the options in a query. Throws BadRequest. */
  readonly optionsIn: (query: URLSearchParams) => T;
  /** Finds the destination; undefined if there is nothing to stream yet. Throws a StatusError to refuse. */
  readonly locate: (
    reader: ConnectionReader,
    request: ConnectionRequest<T>,
  ) => Promise<Destination | undefined>;
}

/**
 * Erases the option type of a connection: `locate` gets only options that `optionsIn` made and admission has
 * checked.
 */
export function connectionTo<T>(connection: Connection<T>): Connection {
  return connection as unknown as Connection;
}
