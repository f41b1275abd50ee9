import type { AccessQuestion } from '../../../engine/request/access';
import type { PolicyRule } from './policy-rule';
import { urlPrefixOf } from './policy-rule';

const EVERY = '*';

/** The attributes of a request in the form that rules are compared with. */
export interface Asked {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  /** `pods`, or `pods/log`. */
  readonly resource: string;
  /** The pattern that matches the subresource of any resource; empty without a subresource. */
  readonly anyWithSubresource: string;
  readonly name: string;
}

export function askedBy(question: AccessQuestion): Asked {
  const { verb, isResourceRequest, path, apiGroup, resource, subresource, name } = question;
  return {
    verb,
    isResourceRequest,
    path,
    apiGroup,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    anyWithSubresource: subresource === '' ? '' : `${EVERY}/${subresource}`,
    name,
  };
}

/** A rule with sets instead of lists, for comparison with many requests. */
export class CompiledRule {
  readonly #verbs: ReadonlySet<string>;
  readonly #apiGroups: ReadonlySet<string>;
  readonly #resources: ReadonlySet<string>;
  /** Undefined: any name. */
  readonly #names: ReadonlySet<string> | undefined;
  readonly #urls: ReadonlySet<string>;
  readonly #urlPrefixes: readonly string[];
  readonly #isForEveryVerb: boolean;
  readonly #isForEveryGroup: boolean;
  readonly #isForEveryResource: boolean;

  constructor({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule) {
    this.#verbs = new Set(verbs);
    this.#apiGroups = new Set(apiGroups);
    this.#resources = new Set(resources);
    this.#names = resourceNames.length === 0 ? undefined : new Set(resourceNames);
    this.#urls = new Set(nonResourceURLs);
    this.#urlPrefixes = nonResourceURLs.map(urlPrefixOf).filter((prefix) => prefix !== undefined);
    this.#isForEveryVerb = this.#verbs.has(EVERY);
    this.#isForEveryGroup = this.#apiGroups.has(EVERY);
    this.#isForEveryResource = this.#resources.has(EVERY);
  }

  allows(asked: Asked): boolean {
    if (!this.#isForEveryVerb && !this.#verbs.has(asked.verb)) return false;
    if (!asked.isResourceRequest) return this.#allowsPath(asked.path);
    if (!this.#isForEveryGroup && !this.#apiGroups.has(asked.apiGroup)) return false;
    if (!this.#isForEveryResource && !this.#isForResource(asked)) return false;
    return this.#names === undefined || this.#names.has(asked.name);
  }

  #isForResource({ resource, anyWithSubresource }: Asked): boolean {
    if (this.#resources.has(resource)) return true;
    return anyWithSubresource !== '' && this.#resources.has(anyWithSubresource);
  }

  #allowsPath(path: string): boolean {
    return this.#urls.has(path) || this.#urlPrefixes.some((prefix) => path.startsWith(prefix));
  }
}
