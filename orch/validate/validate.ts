import type { Access } from '../../package/types';
import { sleep } from '../../shared/concurrency/abort';
import { statusErrorFromAnswer } from '../../shared/client/status';
import type { ManifestFile } from '../../shared/files/manifest-files';
import { isJsonObject } from '../../shared/object/clone';
import { readManifest } from './manifest';
import type { ManifestObject } from './manifest';

/** What was found in a manifest. */
export interface Finding {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Warnings do not fail the validation. */
  readonly severity: 'error' | 'warning';
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly field?: string;
  /** As in the Status of a server, such as `FieldValueInvalid`. */
  readonly reason?: string;
  readonly message: string;
}

export interface Inputs {
  readonly manifests: readonly ManifestFile[];
  /** Files with the definitions of custom resources. */
  readonly definitions: readonly ManifestFile[];
  /** Files with objects that the manifests change. */
  readonly old: readonly ManifestFile[];
}

export interface Validation {
  readonly findings: readonly Finding[];
  /** The objects of the manifests. */
  readonly count: number;
}

/** Plugins that would refuse or change an object because of others that only a cluster has. */
export const PLUGINS_OFF = [
  'LimitRanger',
  'NamespaceLifecycle',
  'PersistentVolumeClaimResize',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
];

/** The most objects of all files. */
export const OBJECTS_MAX = 20_000;
const ESTABLISHED_MS_MAX = 10_000;
const ESTABLISHED_POLL_MS = 2;
const DEFINITION = 'CustomResourceDefinition';

/** An object with its file. */
interface Located extends ManifestObject {
  readonly file: string;
}

/**
 * Validates objects as a server does that would create them, or change those of `old`: the definitions and `old` are created in the control
 * plane, the manifests are sent as dry runs.
 *
 * @param plane a control plane without admission plugins that need other objects
 * @throws RangeError for more than {@link OBJECTS_MAX} objects
 */
export async function validateManifests(plane: Access, inputs: Inputs): Promise<Validation> {
  const run = new Run(plane);
  const [definitions, old, manifests] = [inputs.definitions, inputs.old, inputs.manifests].map((files) =>
    files.flatMap((file) => run.read(file)),
  );
  if (run.count > OBJECTS_MAX) throw new RangeError(`more than ${String(OBJECTS_MAX)} objects`);
  const objects = manifests ?? [];
  for (const each of [...(definitions ?? []), ...objects]) if (isDefinition(each)) await run.define(each);
  for (const each of old ?? []) await run.send(each, false);
  for (const each of objects) if (!isDefinition(each)) await run.send(each, true);
  const files = [...inputs.definitions, ...inputs.old, ...inputs.manifests].map(({ name }) => name);
  const places = new Map(files.map((name, index) => [name, index]));
  const place = ({ file }: Finding): number => places.get(file) ?? 0;
  const findings = run.findings.toSorted((a, b) => place(a) - place(b) || a.line - b.line);
  return { findings, count: objects.length };
}

function isDefinition({ object: { apiVersion, kind } }: ManifestObject): boolean {
  // Of either dialect: the control plane may have another one than this module.
  return kind === DEFINITION && String(apiVersion).startsWith('apiextensions.');
}

interface ServedKind {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly warnings: readonly string[];
}

class Run {
  readonly findings: Finding[] = [];
  count = 0;
  readonly #plane: Access;
  /** The paths of the objects that exist. */
  readonly #stored = new Set<string>();
  /** The kinds of each version; definitions add to them. */
  readonly #kinds = new Map<string, readonly ServedKind[]>();

  constructor(plane: Access) {
    this.#plane = plane;
  }

  read({ name: file, text }: ManifestFile): readonly Located[] {
    const { objects, problems } = readManifest(text);
    for (const problem of problems) this.findings.push({ file, severity: 'error', ...problem });
    this.count += objects.length;
    return objects.map((each) => ({ ...each, file }));
  }

  /** Creates a definition and waits until its kind is served. */
  async define(located: Located): Promise<void> {
    const { spec } = located.object;
    // Objects are validated in the version that they are written in, so that no webhook has to convert them.
    const conversion = { strategy: 'None' };
    const object = isJsonObject(spec) ? { ...located.object, spec: { ...spec, conversion } } : located.object;
    const path = await this.send({ ...located, object }, false);
    if (path === undefined) return;
    this.#kinds.clear();
    const until = performance.now() + ESTABLISHED_MS_MAX;
    for (;;) {
      const { text } = await this.#request('GET', path);
      const conditions = conditionsOf(text);
      if (conditions.get('Established')?.status === 'True') return;
      const refused = [conditions.get('NonStructuralSchema'), negative(conditions.get('NamesAccepted'))].find(
        (each) => each?.status === 'True',
      );
      if (refused !== undefined || performance.now() > until) {
        this.#add(located, { message: `the definition is not served: ${refused?.message ?? 'no answer'}` });
        return;
      }
      await sleep(ESTABLISHED_POLL_MS, new AbortController().signal);
    }
  }

  /**
   * Sends an object to be created, or to replace the one that exists. Adds what is wrong to the findings.
   *
   * @returns its path if it was accepted
   */
  async send(located: Located, isDryRun: boolean): Promise<string | undefined> {
    const { object } = located;
    const apiVersion = String(object['apiVersion']);
    const kinds = await this.#kindsOf(apiVersion);
    const served = kinds.find(({ kind }) => kind === object['kind']);
    if (served === undefined) {
      this.#add(located, {
        field: 'kind',
        message: `${String(object['kind'])} is not in ${apiVersion}; definitions of custom resources are read from --crds`,
      });
      return undefined;
    }
    const { name = '', namespace = 'default' } = metadataOf(object);
    const place = served.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
    const collection = `${rootOf(apiVersion)}${place}/${served.name}`;
    const query = `?fieldValidation=Warn${isDryRun ? '&dryRun=All' : ''}`;
    const path = `${collection}/${encodeURIComponent(name)}`;
    const replace = async (): Promise<Answer> =>
      this.#request('PUT', path + query, await this.#onto(object, path));
    // A create of an object that exists would be validated as a new one first.
    let answer = this.#stored.has(path)
      ? await replace()
      : await this.#request('POST', collection + query, object);
    if (answer.code === CONFLICT) answer = await replace();
    for (const warning of answer.warnings) this.#addWarning(located, warning);
    if (answer.code < FAILED_FROM) {
      if (!isDryRun) this.#stored.add(path);
      return path;
    }
    this.#addRefusal(located, answer);
    return undefined;
  }

  /** Returns an object that replaces the existing one. */
  async #onto(object: Readonly<Record<string, unknown>>, path: string): Promise<object> {
    const { text } = await this.#request('GET', path);
    const { resourceVersion } = metadataOf(JSON.parse(text) as object);
    return { ...object, metadata: { ...metadataOf(object), resourceVersion } };
  }

  /** Warnings about fields are errors: no server keeps such fields. */
  #addWarning(located: Located, message: string): void {
    const field = UNUSED_FIELD.exec(message)?.[1];
    this.#add(located, field === undefined ? { severity: 'warning', message } : { field, message });
  }

  #addRefusal(located: Located, { code, text }: Answer): void {
    const { status, message } = statusErrorFromAnswer({ code, text });
    const { reason = '', details } = status;
    const causes = (details?.causes ?? []).filter((cause) => cause.message !== undefined);
    for (const cause of causes) this.#add(located, { ...cause, message: cause.message ?? '' });
    if (causes.length === 0) this.#add(located, { reason, message });
  }

  #add(
    { file, object, lineOf }: Located,
    { field = '', severity = 'error', reason, message }: Partial<Finding> & { readonly message: string },
  ): void {
    const { name, generateName = '' } = metadataOf(object);
    this.findings.push({
      file,
      line: lineOf(field === '<nil>' ? '' : field),
      severity,
      apiVersion: String(object['apiVersion']),
      kind: String(object['kind']),
      name: name ?? generateName,
      ...(field === '' ? {} : { field }),
      ...(reason === undefined ? {} : { reason }),
      message,
    });
  }

  async #kindsOf(apiVersion: string): Promise<readonly ServedKind[]> {
    const known = this.#kinds.get(apiVersion);
    if (known !== undefined) return known;
    const { code, text } = await this.#request('GET', rootOf(apiVersion));
    const { resources } =
      code < FAILED_FROM
        ? (JSON.parse(text) as { readonly resources: readonly ServedKind[] })
        : { resources: [] };
    const kinds = resources.filter(({ name }) => !name.includes('/'));
    this.#kinds.set(apiVersion, kinds);
    return kinds;
  }

  async #request(method: string, path: string, body?: object): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    const response = await this.#plane.fetch(path, init);
    const warnings = response.headers.get('warning') ?? '';
    return {
      code: response.status,
      text: await response.text(),
      warnings: Array.from(warnings.matchAll(WARNING), ([, text = '']) => unquoted(text)),
    };
  }
}

const CONFLICT = 409;
const FAILED_FROM = 300;
const UNUSED_FIELD = /^(?:unknown|duplicate) field "(.*)"$/su;
const WARNING = /299 - "((?:[^"\\]|\\.)*)"/gu;

/** Texts of headers are bytes of UTF-8. */
function unquoted(text: string): string {
  return Buffer.from(text.replaceAll(/\\(.)/gu, '$1'), 'latin1').toString('utf8');
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

interface NamedMetadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
}

function metadataOf(object: object): NamedMetadata {
  const { metadata } = object as { readonly metadata?: unknown };
  return isJsonObject(metadata) ? metadata : {};
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

function conditionsOf(text: string): ReadonlyMap<string, Condition> {
  const { status } = JSON.parse(text) as { readonly status?: { readonly conditions?: readonly Condition[] } };
  return new Map((status?.conditions ?? []).map((each) => [each.type, each]));
}

function negative(condition: Condition | undefined): Condition | undefined {
  return condition && { ...condition, status: condition.status === 'False' ? 'True' : 'False' };
}
