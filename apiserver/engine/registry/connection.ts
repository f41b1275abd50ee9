import type { ApiObject, GroupVersionResource } from '../../../shared/object/object';
import type { RandomInt } from '../../../shared/meta/generate-name';

/** A server that a request goes on to, and what is asked of it there. */
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
   * Who is there: an agent of a node, which knows this server by its certificate, or anybody, who is told nothing of it. The certificate of
   * an agent is verified unless it is `unverified`, that of anybody is not.
   */
  readonly peer: 'agent' | 'unverified agent' | 'anybody';
  /** The name may stand for addresses that nobody may reach through this server: it is looked up and checked. */
  readonly isChecked?: boolean;
}

/** How agents of nodes are found. */
export interface AgentRules {
  readonly scheme: 'http' | 'https';
  /** Where a node does not say another one. */
  readonly port: number;
  /** The types of addresses of a node, the first choice first. */
  readonly addressTypes: readonly string[];
}

/** What places are found by. */
export interface ConnectionReader {
  /** The object as it is now. Throws NotFound. */
  read<T extends ApiObject>(
    resource: Pick<GroupVersionResource, 'group' | 'resource'>,
    name: string,
    namespace?: string,
  ): Promise<T>;
  readonly agents: AgentRules;
  readonly randomInt: RandomInt;
}

/** What one request asks for. `T` is the kind of the options. */
export interface ConnectionRequest<T = unknown> {
  readonly namespace: string;
  /** As it stands in the path: with a scheme and a port, where they may be given. */
  readonly name: string;
  /** After admission. */
  readonly options: T;
}

export type Carried = 'upgrades' | 'requests' | 'text';

/** A subresource that leads to another server. */
export interface Connection<T = unknown> {
  /**
   * `upgrades`: connections that are upgraded, and nothing else. `requests`: any request, below any path, and upgrades. `text`: an answer
   * of plain text, which may go on for as long as it likes.
   */
  readonly carries: Carried;
  /** The options that a query says. Throws BadRequest. */
  readonly optionsIn: (query: URLSearchParams) => T;
  /** Where the request goes; undefined for a place that has nothing to say yet. Throws what the request is refused with. */
  readonly locate: (
    reader: ConnectionReader,
    request: ConnectionRequest<T>,
  ) => Promise<Destination | undefined>;
}

/** A connection as the registry takes it, which knows no kinds: `locate` gets only options that `optionsIn` made and admission has left so. */
export function connectionTo<T>(connection: Connection<T>): Connection {
  return connection as unknown as Connection;
}
