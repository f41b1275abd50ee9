import type { Node, Pod } from '../../shared/api/types/core-v1';
import { keyOfObject } from '../../shared/informer/store';
import type { Amounts, HostPort } from './pod-demand';
import { addAmounts, ALL_ADDRESSES, demandOf, toAmounts } from './pod-demand';

/** One node, and the pods on it. */
export class NodeState {
  readonly name: string;
  /** By `namespace/name`. */
  readonly pods = new Map<string, Pod>();
  readonly requested = new Map<string, number>();
  readonly scored = { cpuMilli: 0, memoryBytes: 0 };
  node: Node;
  allocatable: Amounts;

  constructor(node: Node) {
    this.name = node.metadata.name ?? '';
    this.node = node;
    this.allocatable = toAmounts(node.status?.allocatable);
  }

  setNode(node: Node): void {
    this.node = node;
    this.allocatable = toAmounts(node.status?.allocatable);
  }

  add(pod: Pod): void {
    this.remove(keyOfObject(pod));
    this.pods.set(keyOfObject(pod), pod);
    this.#count(pod, 1);
  }

  remove(key: string): void {
    const pod = this.pods.get(key);
    if (pod === undefined) return;
    this.pods.delete(key);
    this.#count(pod, -1);
  }

  /** Reports whether a pod of the node has one of these ports, at the same address or at all addresses. */
  hasPortOf(wanted: readonly HostPort[]): boolean {
    if (wanted.length === 0) return false;
    return [...this.pods.values()].some((pod) =>
      demandOf(pod).hostPorts.some(({ port, address }) =>
        wanted.some(
          (each) =>
            each.port === port &&
            (each.address === address || address === ALL_ADDRESSES || each.address === ALL_ADDRESSES),
        ),
      ),
    );
  }

  #count(pod: Pod, times: 1 | -1): void {
    const { requests, scored } = demandOf(pod);
    addAmounts(this.requested, requests, times);
    this.scored.cpuMilli += times * scored.cpuMilli;
    this.scored.memoryBytes += times * scored.memoryBytes;
  }
}

/**
 * The nodes and the pods on them, as informers report them and as this scheduler has decided meanwhile. It is a mirror: its bound is that of the
 * server's collections.
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeState>();
  /** Pods by key: the node of each, which may not exist yet or any more. */
  readonly #places = new Map<string, { readonly pod: Pod; readonly nodeName: string }>();

  /** In the order in which they were added. */
  nodes(): readonly NodeState[] {
    return [...this.#nodes.values()];
  }

  get size(): number {
    return this.#nodes.size;
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? '';
    const known = this.#nodes.get(name);
    if (known !== undefined) {
      known.setNode(node);
      return;
    }
    const made = new NodeState(node);
    this.#nodes.set(name, made);
    for (const { pod, nodeName } of this.#places.values()) if (nodeName === name) made.add(pod);
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
  }

  /** Records a pod on its node. A pod without a node is ignored: one that this scheduler has just bound must not be forgotten by an older event. */
  setPod(pod: Pod, nodeName: string = pod.spec.nodeName ?? ''): void {
    if (nodeName === '') return;
    const key = keyOfObject(pod);
    this.removePod(key);
    this.#places.set(key, { pod, nodeName });
    this.#nodes.get(nodeName)?.add(pod);
  }

  removePod(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    this.#nodes.get(place.nodeName)?.remove(key);
  }

  /** Reports whether the pod has a node. */
  hasPod(key: string): boolean {
    return this.#places.has(key);
  }
}
