import type { Reference, ReferenceKind, VolumeReferences } from './references';
import { referenceTo } from './references';

/** A node with pods, or with a configuration. */
interface NodeUse {
  readonly name: string;
  /** The number of holders. */
  holders: number;
  /** The claims of its pods, with the number of pods that use each. */
  readonly claims: Map<Target, number>;
}

/** An object that holders refer to. */
interface Target {
  readonly reference: Reference;
  /** The nodes that need the object, with the number of holders. */
  readonly nodes: Map<NodeUse, number>;
}

interface Holder {
  readonly node: NodeUse;
  readonly targets: readonly Target[];
}

/**
 * An index of the objects that each node needs; a query takes a few lookups. For a pod it stores the node and the references, which pods with
 * the same references share. Unscheduled pods are not stored.
 */
export class NodeUses {
  readonly #nodes = new Map<string, NodeUse>();
  readonly #targets = new Map<Reference, Target>();
  /** By the key of a pod, or of a node with a configuration. */
  readonly #holders = new Map<string, Holder>();
  readonly #volumes = new Map<string, VolumeReferences>();
  /** Volumes by the claim that they are bound to, and by the secrets that they need. */
  readonly #volumesOfClaim = new Map<Reference, Set<string>>();
  readonly #volumesOfSecret = new Map<Reference, Set<string>>();

  /** Replaces the references of the holder. */
  hold(holder: string, node: string, references: readonly Reference[]): void {
    this.release(holder);
    const use = this.#nodes.get(node) ?? { name: node, holders: 0, claims: new Map() };
    use.holders += 1;
    this.#nodes.set(node, use);
    const targets = references.map((reference) => this.#target(reference));
    for (const target of targets) {
      count(target.nodes, use, 1);
      if (isClaim(target)) count(use.claims, target, 1);
    }
    this.#holders.set(holder, { node: use, targets });
  }

  release(holder: string): void {
    const held = this.#holders.get(holder);
    if (held === undefined) return;
    this.#holders.delete(holder);
    const { node, targets } = held;
    for (const target of targets) {
      count(target.nodes, node, -1);
      if (isClaim(target)) count(node.claims, target, -1);
      if (target.nodes.size === 0) this.#targets.delete(target.reference);
    }
    node.holders -= 1;
    if (node.holders === 0) this.#nodes.delete(node.name);
  }

  /** Returns the node of the holder; undefined if it has none. */
  nodeOf(holder: string): string | undefined {
    return this.#holders.get(holder)?.node.name;
  }

  releaseAll(prefix: string): void {
    for (const holder of this.#holders.keys()) if (holder.startsWith(prefix)) this.release(holder);
  }

  /** Replaces the references of a volume; undefined: none. */
  setVolume(name: string, references: VolumeReferences | undefined): void {
    const before = this.#volumes.get(name);
    if (before !== undefined) {
      remove(this.#volumesOfClaim, before.claim, name);
      for (const secret of before.secrets) remove(this.#volumesOfSecret, secret, name);
      this.#volumes.delete(name);
    }
    if (references === undefined) return;
    this.#volumes.set(name, references);
    add(this.#volumesOfClaim, references.claim, name);
    for (const secret of references.secrets) add(this.#volumesOfSecret, secret, name);
  }

  clearVolumes(): void {
    this.#volumes.clear();
    this.#volumesOfClaim.clear();
    this.#volumesOfSecret.clear();
  }

  /** Returns whether a pod of the node needs the object, directly or to mount a volume. */
  needs(
    node: string,
    kind: ReferenceKind,
    at: { readonly namespace: string; readonly name: string },
  ): boolean {
    const use = this.#nodes.get(node);
    if (use === undefined) return false;
    const reference = referenceTo(kind, at.namespace, at.name);
    if (this.#targets.get(reference)?.nodes.has(use) === true) return true;
    return kind === 'secret' && this.#mountsBy(use, reference);
  }

  /** Returns whether a pod on the node uses the claim that the volume is bound to. */
  needsVolume(node: string, volume: string): boolean {
    const use = this.#nodes.get(node);
    const claim = this.#volumes.get(volume)?.claim;
    if (use === undefined || claim === undefined) return false;
    return this.#targets.get(claim)?.nodes.has(use) === true;
  }

  /** Iterates over the smaller set: the volumes with the secret (thousands), or the claims of the node (hundreds). */
  #mountsBy(use: NodeUse, secret: Reference): boolean {
    const volumes = this.#volumesOfSecret.get(secret);
    if (volumes === undefined) return false;
    if (volumes.size <= use.claims.size) {
      return [...volumes].some((volume) => this.needsVolume(use.name, volume));
    }
    for (const { reference } of use.claims.keys()) {
      for (const volume of this.#volumesOfClaim.get(reference) ?? []) if (volumes.has(volume)) return true;
    }
    return false;
  }

  #target(reference: Reference): Target {
    const known = this.#targets.get(reference);
    if (known !== undefined) return known;
    const target = { reference, nodes: new Map() };
    this.#targets.set(reference, target);
    return target;
  }
}

function isClaim({ reference }: Target): boolean {
  return reference.startsWith('claim:');
}

function count<Key>(counts: Map<Key, number>, key: Key, by: 1 | -1): void {
  const now = (counts.get(key) ?? 0) + by;
  if (now === 0) counts.delete(key);
  else counts.set(key, now);
}

function add(sets: Map<Reference, Set<string>>, key: Reference, value: string): void {
  const set = sets.get(key) ?? new Set();
  set.add(value);
  sets.set(key, set);
}

function remove(sets: Map<Reference, Set<string>>, key: Reference, value: string): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}
