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
  /** The stored resources; kinds that are not served are absent. */
  readonly stored: readonly StoredResource[];
  readonly cache: ClusterCache;
}

/** The result of evaluating the roles for a request. */
export interface Decision {
  /** The binding that allows the request. */
  readonly allowedBy: Binding | undefined;
  /** Missing roles that bindings of the user refer to. */
  readonly missing: readonly RoleSlot[];
}

/**
 * Roles and bindings of the watch cache, indexed for decisions: bindings by user and group, rules compiled once for each version of a role.
 * Changes are applied incrementally; see {@link CacheFollower}.
 */
export class Policies {
  /** By the kind in a roleRef. */
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

  /** A counter that grows with every change that may affect a decision. */
  get generation(): number {
    this.#catchUp();
    return this.#followers.starts + this.#changes;
  }

  /** Waits for roles and bindings. Throws ServiceUnavailable (503) when that takes too long, so that no request is allowed meanwhile. */
  async whenReady(signal: AbortSignal): Promise<void> {
    await this.#followers.whenReady(signal);
  }

  /** Waits until every write acknowledged before this call is applied; false when that takes too long. */
  async freshen(signal: AbortSignal): Promise<boolean> {
    return this.#followers.freshen(signal);
  }

  /** Evaluates cluster-wide bindings before those of the namespace, and each role once. Call `whenReady` first. */
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

  /** Returns the rules of the user in the namespace, binding by binding, and the missing roles. Call `whenReady` first. */
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

  /** Returns the rules of the role that a binding in the namespace refers to; undefined if it is missing. Call `whenReady` first. */
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
