import { GROUP } from '../../../../shared/names';
import type { AccessQuestion } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import type { StoredResource } from '../../../engine/registry/resource';
import type { ClusterCache } from '../../../engine/watch-cache/cluster-cache';
import type { Binding, RoleRef } from './binding';
import type { RoleHolder } from './binding-table';
import { BindingTable } from './binding-table';
import type { FollowerTarget } from '../../../engine/watch-cache/cache-follower';
import { CacheFollower } from '../../../engine/watch-cache/cache-follower';
import { CacheFollowers } from '../cache-followers';
import { askedBy } from './compiled-rule';
import type { PolicyRule } from './policy-rule';
import { RoleSlot, RoleTable } from './role-table';

export interface PolicySources {
  /** What is stored; kinds that are not served are absent. */
  readonly stored: readonly StoredResource[];
  readonly cache: ClusterCache;
}

/** What the roles say to a question. */
export interface Decision {
  /** The binding that allows it. */
  readonly allowedBy: Binding | undefined;
  /** Roles that bindings of the user name and that are not there. */
  readonly missing: readonly RoleSlot[];
}

/**
 * Roles and bindings as the watch cache has them, ready for decisions: bindings are found by user and by group, and rules are compiled
 * once for each state of a role. A change costs what it changes; see {@link CacheFollower}.
 */
export class Policies {
  /** By kind, as bindings write it. */
  readonly #roles: ReadonlyMap<string, RoleTable>;
  readonly #clusterBindings: BindingTable;
  readonly #bindings: BindingTable;
  readonly #followers: CacheFollowers;
  #changes = 0;
  #decisions = 0;

  constructor({ stored, cache }: PolicySources) {
    const find = (resource: string): StoredResource | undefined =>
      stored.find((each) => each.group === GROUP.rbac && each.resource === resource);
    const clusterRoles = find('clusterroles');
    const roles = find('roles');
    const clusterBindings = find('clusterrolebindings');
    const bindings = find('rolebindings');
    const tables = {
      ClusterRole: new RoleTable('ClusterRole', clusterRoles),
      Role: new RoleTable('Role', roles),
    };
    this.#roles = new Map(Object.entries(tables));
    const holder = this.#holder();
    this.#clusterBindings = new BindingTable('ClusterRoleBinding', clusterBindings, holder);
    this.#bindings = new BindingTable('RoleBinding', bindings, holder);
    const followed: readonly (readonly [StoredResource | undefined, FollowerTarget | undefined])[] = [
      [clusterRoles, tables.ClusterRole],
      [roles, tables.Role],
      [clusterBindings, this.#clusterBindings],
      [bindings, this.#bindings],
    ];
    const followers = followed.flatMap(([resource, target]) =>
      resource === undefined || target === undefined
        ? []
        : [new CacheFollower(cache.resource(resource.keyPrefix), target)],
    );
    this.#followers = new CacheFollowers(cache, followers, 'roles');
  }

  /** Grows with every change that may change a decision. */
  get generation(): number {
    this.#catchUp();
    return this.#followers.starts + this.#changes;
  }

  /** Throws ServiceUnavailable (503) when roles and bindings are not there in time: nobody is let through meanwhile. */
  async whenReady(signal: AbortSignal): Promise<void> {
    await this.#followers.whenReady(signal);
  }

  /** Waits until everything that was written before this call is known; false when that takes too long. */
  async freshen(signal: AbortSignal): Promise<boolean> {
    return this.#followers.freshen(signal);
  }

  /** Bindings of the cluster are looked at before those of the namespace, and every role once. Call `whenReady` before. */
  decide(question: AccessQuestion): Decision {
    this.#catchUp();
    const asked = askedBy(question);
    this.#decisions += 1;
    const decision = this.#decisions;
    const missing: RoleSlot[] = [];
    for (const list of this.#listsOf(question.user, question.namespace)) {
      for (const binding of list) {
        const { role } = binding;
        if (role.seenBy === decision) continue;
        role.seenBy = decision;
        const content = role.content();
        if (content === undefined) missing.push(role);
        else if (content.compiled.some((rule) => rule.allows(asked))) return { allowedBy: binding, missing };
      }
    }
    return { allowedBy: undefined, missing };
  }

  /** All that the user may do in the namespace, binding by binding, and which roles are missing. Call `whenReady` before. */
  rulesOf(
    user: UserInfo,
    namespace: string,
  ): { readonly rules: readonly PolicyRule[]; readonly missing: readonly RoleSlot[] } {
    this.#catchUp();
    const bindings = new Set([...this.#listsOf(user, namespace)].flat());
    const rules: PolicyRule[] = [];
    const missing = new Set<RoleSlot>();
    for (const { role } of bindings) {
      const content = role.content();
      if (content === undefined) missing.add(role);
      else rules.push(...content.rules);
    }
    return { rules, missing: [...missing] };
  }

  /** What the role allows that a binding in the namespace means; undefined when there is none. Call `whenReady` before. */
  rulesOfRole(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    this.#catchUp();
    return this.#roles.get(ref.kind)?.get(keyOf(ref, namespace))?.content()?.rules;
  }

  *#listsOf(user: UserInfo, namespace: string): Generator<readonly Binding[]> {
    yield* this.#clusterBindings.of(user, '');
    if (namespace !== '') yield* this.#bindings.of(user, namespace);
  }

  #catchUp(): void {
    this.#changes += this.#followers.catchUp();
  }

  #holder(): RoleHolder {
    return {
      hold: (ref, namespace) => {
        const key = keyOf(ref, namespace);
        return this.#roles.get(ref.kind)?.hold(key) ?? new RoleSlot(ref.kind, key);
      },
      release: (role) => this.#roles.get(role.kind)?.release(role),
    };
  }
}

function keyOf({ kind, name }: RoleRef, namespace: string): string {
  return kind === 'Role' ? `${namespace}/${name}` : name;
}
