import { RESOURCE } from '../../../shared/api/resource-names';
import { API_SERVER_MANAGER, LABEL } from '../../../shared/names';
import type { Client } from '../../../shared/client/client';
import type { ResourceRow } from '../../../shared/client/discovery';
import type { ApiList } from '../../../shared/client/options';
import { discover, metadataResources } from '../../../shared/client/discovery';
import { queryString, resourcePath } from '../../../shared/client/resource-path';
import { statusErrorFromAnswer } from '../../../shared/client/status';
import { fields } from '../../../shared/object/json';
import { stringifyExact } from '../../../shared/object/exact-text';
import { isJsonObject } from '../../../shared/object/clone';
import type { ListMeta } from '../../../shared/object/object';
import { decodeJson } from '../../../shared/schema/decode';

export interface ExportOptions {
  /** Objects of one request. */
  readonly pageObjects: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ExportReport {
  readonly objects: number;
  /** Resources that another server answers, or that could not be discovered. */
  readonly skipped: readonly string[];
}

/** What a server stores can be listed, created and deleted; reviews and metrics cannot. */
const STORED_VERBS = ['list', 'create', 'delete'] as const;
/** Definitions come first, so that an import knows the kinds that follow, and namespaces before what is in them. */
const FIRST = ['customresourcedefinitions', 'namespaces'] as const;
const NO_IDENTITIES = `${LABEL.component}!=${API_SERVER_MANAGER}`;
const GONE = 410;

/**
 * Lists every stored object of a server, page by page, and yields each as one line of JSON with sorted keys, as kubectl writes it. Each
 * resource is listed in its storage version if discovery shows it, else in the preferred one. The leases by which API servers show that they run
 * are left out: they are of the server, and the next one has its own. Throws a StatusError for a refused list.
 *
 * @param report Called once at the end.
 */
export async function* exportObjects(
  client: Client,
  { pageObjects, signal }: ExportOptions,
  report: (report: ExportReport) => void,
): AsyncGenerator<string> {
  const discovery = await discover(client, { signal });
  const stored = metadataResources(discovery.resources).filter(({ verbs }) =>
    STORED_VERBS.every((verb) => verbs.includes(verb)),
  );
  const delegated = await findDelegatedGroups(client, stored, signal);
  const isOwn = ({ group, version }: ResourceRow): boolean => !delegated.has(`${version}.${group}`);
  let objects = 0;
  for (const row of stored.filter(isOwn).sort(compareRows)) {
    for await (const object of listAll(client, row, { pageObjects, signal })) {
      objects += 1;
      yield object;
    }
  }
  const skipped = [
    ...stored.filter((row) => !isOwn(row)).map(({ group, resource }) => `${resource}.${group}`),
    ...discovery.failures.map(({ groupVersion, error }) => `${groupVersion}: ${error.message}`),
  ];
  report({ objects, skipped });
}

/** The APIServices whose objects another server stores. */
async function findDelegatedGroups(
  client: Client,
  rows: readonly ResourceRow[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const row = rows.find(({ resource }) => resource === 'apiservices');
  if (row === undefined) return new Set();
  const { items } = await client.listAll(row, { signal });
  return new Set(
    items
      .filter(
        (each) => fields<{ service: object }>(fields<{ spec: object }>(each).spec).service !== undefined,
      )
      .map(({ metadata }) => metadata.name ?? ''),
  );
}

function compareRows(a: ResourceRow, b: ResourceRow): number {
  return rankOf(a) - rankOf(b) || compare(a.group, b.group) || compare(a.resource, b.resource);
}

function rankOf({ resource }: ResourceRow): number {
  const at = FIRST.findIndex((each) => each === resource);
  return at < 0 ? FIRST.length : at;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function* listAll(
  client: Client,
  row: ResourceRow,
  { pageObjects, signal }: ExportOptions,
): AsyncGenerator<string> {
  const apiVersion = row.group === '' ? row.version : `${row.group}/${row.version}`;
  for (let token: string | undefined = ''; token !== undefined;) {
    const labelSelector = row.resource === RESOURCE.leases.resource ? NO_IDENTITIES : undefined;
    const query = queryString({ limit: pageObjects, continue: token, labelSelector });
    const answer = await client.request({ method: 'GET', path: resourcePath(row) + query, signal });
    const page = fields<ApiList>(decodeJson(answer.body));
    const { continue: next = '' } = fields<ListMeta>(page.metadata);
    // A list that outlives the history of the store continues at the newest state, as upstream's Status offers.
    const isExpired = answer.code === GONE && token !== '' && next !== '';
    if (answer.code >= 300 && !isExpired) {
      throw statusErrorFromAnswer({ code: answer.code, text: answer.body.toString() });
    }
    for (const item of isExpired || !Array.isArray(page.items) ? [] : page.items.filter(isJsonObject)) {
      yield stringifyExact(sorted({ apiVersion, kind: row.kind, ...item }));
    }
    token = typeof next === 'string' && next !== '' ? next : undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort(compare)
      .map((key) => [key, sorted(value[key])]),
  );
}
