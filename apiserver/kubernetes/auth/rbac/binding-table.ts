import type { StoredResource } from '../../../engine/registry/resource';
import { currentOfEntry } from '../../../engine/registry/stored-form';
import type { UserInfo } from '../../../engine/request/exchange';
import type { Entry } from '../../../engine/watch-cache/state/entry';
import type { Binding, RoleRef, StoredBinding } from './binding';
import { holderOf, roleRefOf, subjectsOf } from './binding';
import type { FollowerTarget } from '../../../engine/watch-cache/cache-follower';
import type { RoleSlot } from './role-table';

/** Acquires and releases role slots. */
export interface RoleHolder {
  hold(ref: RoleRef, namespace: string): RoleSlot;
  release(role: RoleSlot): void;
}

/** The bindings of one kind, indexed by subject. */
export class BindingTable implements FollowerTarget {
  readonly #kind: Binding['kind'];
  readonly #stored: StoredResource | undefined;
  readonly #roles: RoleHolder;
  readonly #byKey = new Map<string, Binding>();
  /** By namespace; cluster-wide bindings have the empty one. */
  readonly #scopes = new Map<string, Scope>();

  constructor(kind: Binding['kind'], stored: StoredResource | undefined, roles: RoleHolder) {
    this.#kind = kind;
    this.#stored = stored;
    this.#roles = roles;
  }

  reset(): void {
    for (const { role } of this.#byKey.values()) this.#roles.release(role);
    this.#byKey.clear();
    this.#scopes.clear();
  }

  changed(key: string, entry: Entry | undefined): void {
    const previous = this.#byKey.get(key);
    if (previous !== undefined) this.#remove(key, previous);
    if (entry === undefined || this.#stored === undefined) return;
    const binding = currentOfEntry(this.#stored, entry).object as StoredBinding;
    const { namespace, name } = entry;
    const role = this.#roles.hold(roleRefOf(binding), namespace);
    this.#add(key, { kind: this.#kind, name, namespace, subjects: subjectsOf(binding), role });
  }

  /** Yields lists of bindings for the user and each group, sorted by name; a binding may be in several lists. */
  *of({ name, groups }: UserInfo, namespace: string): Generator<readonly Binding[]> {
    const scope = this.#scopes.get(namespace);
    if (scope === undefined) return;
    const own = scope.user.get(name);
    if (own !== undefined) yield own;
    for (const group of groups) {
      const shared = scope.group.get(group);
      if (shared !== undefined) yield shared;
    }
  }

  #add(key: string, binding: Binding): void {
    this.#byKey.set(key, binding);
    const scope = this.#scopes.get(binding.namespace) ?? new Scope();
    this.#scopes.set(binding.namespace, scope);
    scope.add(binding);
  }

  #remove(key: string, binding: Binding): void {
    this.#byKey.delete(key);
    const scope = this.#scopes.get(binding.namespace);
    scope?.remove(binding);
    if (scope?.isEmpty === true) this.#scopes.delete(binding.namespace);
    this.#roles.release(binding.role);
  }
}

/** The bindings of one namespace, or of the cluster, by user name and by group. */
class Scope {
  readonly user = new Map<string, Binding[]>();
  readonly group = new Map<string, Binding[]>();

  get isEmpty(): boolean {
    return this.user.size === 0 && this.group.size === 0;
  }

  add(binding: Binding): void {
    this.#forEachList(binding, (lists, holder) => {
      const list = lists.get(holder);
      if (list === undefined) lists.set(holder, [binding]);
      else {
        const at = findIndex(list, binding.name);
        // A binding may list the same subject twice.
        if (list[at] !== binding) list.splice(at, 0, binding);
      }
    });
  }

  remove(binding: Binding): void {
    this.#forEachList(binding, (lists, holder) => {
      const list = lists.get(holder);
      if (list === undefined) return;
      const at = findIndex(list, binding.name);
      if (list[at] !== binding) return;
      if (list.length === 1) lists.delete(holder);
      else list.splice(at, 1);
    });
  }

  #forEachList(
    { subjects, namespace }: Binding,
    visit: (lists: Map<string, Binding[]>, holder: string) => void,
  ): void {
    for (const subject of subjects) {
      const holder = holderOf(subject, namespace);
      if (holder !== undefined) visit(this[holder.is], holder.name);
    }
  }
}

/** Returns the index of the binding with the name, or where to insert it (binary search). */
function findIndex(list: readonly Binding[], name: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.name ?? '') < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
