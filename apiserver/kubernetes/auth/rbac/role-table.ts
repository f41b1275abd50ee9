import type { ClusterRole } from '../../../../shared/api/types/rbac-v1';
import type { StoredResource } from '../../../engine/registry/resource';
import { currentOfEntry } from '../../../engine/registry/stored-form';
import type { Entry } from '../../../engine/watch-cache/state/entry';
import type { FollowerTarget } from '../../../engine/watch-cache/cache-follower';
import { CompiledRule } from './compiled-rule';
import type { PolicyRule } from './policy-rule';
import { policyRules } from './policy-rule';

/** The rules of a role. */
export interface RoleRules {
  readonly rules: readonly PolicyRule[];
  readonly compiled: readonly CompiledRule[];
}

/** The slot of a role. Bindings that refer to a missing role hold its slot too. */
export class RoleSlot {
  readonly kind: string;
  /** `<namespace>/<name>`, or `<name>`. */
  readonly key: string;
  readonly name: string;
  /** The number of the last decision that evaluated the role, so that each decision evaluates it once. */
  seenBy = 0;
  /** The number of bindings that hold the slot. */
  holders = 0;
  #source: { readonly stored: StoredResource; readonly entry: Entry } | undefined;
  #content: RoleRules | undefined;

  constructor(kind: string, key: string) {
    this.kind = kind;
    this.key = key;
    this.name = key.slice(key.indexOf('/') + 1);
  }

  /** Returns the rules, decoded at first use and cached until the role changes; undefined if the role does not exist. */
  content(): RoleRules | undefined {
    if (this.#content !== undefined || this.#source === undefined) return this.#content;
    const { object } = currentOfEntry(this.#source.stored, this.#source.entry);
    const rules = policyRules((object as ClusterRole).rules);
    this.#content = { rules, compiled: rules.map((rule) => new CompiledRule(rule)) };
    return this.#content;
  }

  fill(source: { readonly stored: StoredResource; readonly entry: Entry } | undefined): void {
    this.#source = source;
    this.#content = undefined;
  }

  get isIdle(): boolean {
    return this.#source === undefined && this.holders === 0;
  }
}

/** The roles of one kind. */
export class RoleTable implements FollowerTarget {
  readonly #kind: string;
  readonly #stored: StoredResource | undefined;
  readonly #slots = new Map<string, RoleSlot>();

  /** Without a resource the kind is not served, and the table stays empty. */
  constructor(kind: string, stored: StoredResource | undefined) {
    this.#kind = kind;
    this.#stored = stored;
  }

  reset(): void {
    for (const slot of this.#slots.values()) {
      slot.fill(undefined);
      this.#drop(slot);
    }
  }

  changed(key: string, entry: Entry | undefined): void {
    const stored = this.#stored;
    const slot = this.#slotOf(key);
    slot.fill(entry === undefined || stored === undefined ? undefined : { stored, entry });
    this.#drop(slot);
  }

  /** Acquires the slot of a role, which may be created later. Call `release` when the binding is gone. */
  hold(key: string): RoleSlot {
    const slot = this.#slotOf(key);
    slot.holders += 1;
    return slot;
  }

  release(slot: RoleSlot): void {
    slot.holders -= 1;
    this.#drop(slot);
  }

  get(key: string): RoleSlot | undefined {
    return this.#slots.get(key);
  }

  get size(): number {
    return this.#slots.size;
  }

  #slotOf(key: string): RoleSlot {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = new RoleSlot(this.#kind, key);
      this.#slots.set(key, slot);
    }
    return slot;
  }

  #drop(slot: RoleSlot): void {
    if (slot.isIdle) this.#slots.delete(slot.key);
  }
}
