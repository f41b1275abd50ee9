/** The pods of nodes have addresses from this network: 1,024 nodes with 254 addresses each. */
const NETWORK = { first: 10, second: 244 } as const;
export const NODES_MAX = 1_000;
export const NODE_ADDRESSES = 254;
const NODES_PER_SECOND = 256;

/** Returns the range of the addresses of pods of the node with this index, from 0. */
export function podCidrOf(index: number): string {
  return `${prefixOf(index)}.0/24`;
}

/** The addresses of pods. It is rebuilt from the pods of the server at each start. */
export class PodAddresses {
  /** By address: the uid of its pod. */
  readonly #taken = new Map<string, string>();
  /** By uid of the pod. */
  readonly #addresses = new Map<string, string>();
  /** By index of the node: the last part of the address that was given last. */
  readonly #last = new Map<number, number>();

  /** Records the address that a pod has. */
  note(uid: string, address: string): void {
    if (this.#addresses.get(uid) === address || this.#taken.has(address)) return;
    this.#taken.set(address, uid);
    this.#addresses.set(uid, address);
  }

  /** Returns the address of a pod on the node with this index; undefined if all of the node's are taken. */
  take(uid: string, index: number): string | undefined {
    const known = this.#addresses.get(uid);
    if (known !== undefined) return known;
    const last = this.#last.get(index) ?? 0;
    for (let step = 0; step < NODE_ADDRESSES; step += 1) {
      // Addresses are reused as late as possible, so that nothing reaches a new pod by an old address.
      const part = ((last + step) % NODE_ADDRESSES) + 1;
      const address = `${prefixOf(index)}.${String(part)}`;
      if (this.#taken.has(address)) continue;
      this.#last.set(index, part);
      this.note(uid, address);
      return address;
    }
    return undefined;
  }

  /** Releases the address of a pod that has ended or is gone. */
  release(uid: string): void {
    const address = this.#addresses.get(uid);
    if (address === undefined) return;
    this.#addresses.delete(uid);
    this.#taken.delete(address);
  }
}

function prefixOf(index: number): string {
  const second = NETWORK.second + Math.floor(index / NODES_PER_SECOND);
  return `${String(NETWORK.first)}.${String(second)}.${String(index % NODES_PER_SECOND)}`;
}
