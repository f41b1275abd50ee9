import { createHash } from 'node:crypto';
import { messageType, messageTypeOfKind } from '../../../../shared/schema/types';
import { decodeObject } from '../../../../shared/schema/decode';
import { Slices } from '../../../../shared/concurrency/slices';
import type { APIGroupDiscoveryList } from '../../../../shared/api/types/apidiscovery-v2';
import { GROUP, KUBERNETES_DISCOVERY_GROUP, MEDIA_TYPE } from '../../../../shared/names';
import type { GroupVersionKind } from '../../../../shared/object/object';
import { apiVersionOf } from '../../../../shared/object/object';
import { encodeProtobuf } from '../../../../shared/protobuf/encode';
import { wrapEnvelope } from '../../../../shared/protobuf/envelope';
import { compressed } from '../../../engine/encoding/compression';
import type { Format } from '../../../engine/encoding/negotiation';
import { DOCUMENT_OFFER, negotiate } from '../../../engine/encoding/negotiation';
import { prettyJson } from '../../../engine/encoding/pretty';
import { yamlOf } from '../../../engine/encoding/yaml';
import type { RequestFeatures } from '../../../engine/handlers/request-features';
import type { Registry } from '../../../engine/registry/registry';
import type { Answer, Exchange } from '../../../engine/request/exchange';
import { apiResourceList } from '../documents';
import { groupsByName } from '../group-order';
import type { OtherVersion } from './discovered-version';
import { discoveredResources } from './discovered-version';

const KIND = 'APIGroupDiscoveryList';
const VERSION = messageType('apidiscovery/v2.APIVersionDiscovery');
const GROUP_TYPE = messageType('apidiscovery/v2.APIGroupDiscovery');
const LIST = messageType('apidiscovery/v2.APIGroupDiscoveryList');

/** Which groups a document lists: the one without a name at `/api`, all others at `/apis`. */
type Root = 'api' | 'apis';

/** Creates the answers of aggregated discovery: the resources of all groups in one document. */
export function createGroupLists(): (request: GroupListRequest) => Promise<Answer | undefined> {
  const made = new WeakMap<Registry, Partial<Record<Root, MadeList>>>();
  return async ({ exchange, registry, root, others, features }) => {
    const form = requestedForm(exchange, features);
    if (form === undefined) return undefined;
    const lists = made.get(registry) ?? {};
    made.set(registry, lists);
    let list = lists[root];
    if (list?.others !== others) {
      list = { others, list: makeList(registry, root, others) };
      lists[root] = list;
    }
    // A list that cannot be made is tried again.
    list.list.catch(() => delete lists[root]);
    return answerList(exchange, await list.list, form);
  };
}

export interface GroupListRequest {
  readonly exchange: Exchange;
  readonly registry: Registry;
  readonly root: Root;
  /** Versions of extension API servers. */
  readonly others: readonly OtherVersion[];
  readonly features: RequestedFeatures;
}

type RequestedFeatures = Pick<RequestFeatures, 'aggregatedDiscovery' | 'aggregatedDiscoveryBeta'>;

interface MadeList {
  readonly others: readonly OtherVersion[];
  readonly list: Promise<List>;
}

interface List {
  /** Metadata and items: what follows kind and version. */
  readonly json: Buffer;
  readonly etag: string;
  /** Encoded documents by format and version. Their number is bounded: there are three formats and two versions. */
  readonly encoded: Map<string, Buffer>;
}

interface RequestedForm {
  readonly format: Format;
  readonly pretty: boolean;
  readonly type: string;
  readonly form: GroupVersionKind;
}

/** Returns undefined for a client that prefers plain discovery. Throws NotAcceptable (406) if it accepts neither. */
function requestedForm(exchange: Exchange, features: RequestedFeatures): RequestedForm | undefined {
  if (!features.aggregatedDiscovery || exchange.headers.accept?.includes(KIND) !== true) return undefined;
  const versions = features.aggregatedDiscoveryBeta ? ['v2', 'v2beta1'] : ['v2'];
  const forms = versions
    .filter((version) => messageTypeOfKind({ group: GROUP.apidiscovery, version, kind: KIND }) !== undefined)
    .flatMap((version) =>
      [GROUP.apidiscovery, KUBERNETES_DISCOVERY_GROUP].map((group) => ({ group, version, kind: KIND })),
    );
  const { format, form, pretty, protobufType } = negotiate(exchange, { ...DOCUMENT_OFFER, forms });
  return form && { format, form, pretty, type: protobufType ?? MEDIA_TYPE[format] };
}

/** Builds the document a version at a time, so that other requests are served in between. */
async function makeList(registry: Registry, root: Root, others: readonly OtherVersion[]): Promise<List> {
  const foreign = new Map(others.map((each) => [apiVersionOf(each), each.discovery]));
  const slices = new Slices();
  const groups: string[] = [];
  for (const { group, versions } of groupsByName(registry, others)) {
    if ((group === '') !== (root === 'api')) continue;
    const texts: string[] = [];
    for (const version of versions) {
      const discovery = foreign.get(apiVersionOf({ group, version })) ?? ownVersion(registry, group, version);
      texts.push(JSON.stringify(decodeObject(VERSION, discovery).object));
      if (slices.due()) await slices.pause();
    }
    // An object of Go has all of its metadata, which depends on the API level.
    const head = JSON.stringify(decodeObject(GROUP_TYPE, { metadata: { name: group } }).object);
    groups.push(`${head.slice(0, -1)},"versions":[${texts.join(',')}]}`);
  }
  const json = Buffer.from(`"metadata":{},"items":[${groups.join(',')}]}`);
  const hash = createHash('sha512').update('{').update(json).digest('hex').toUpperCase();
  return { json, etag: `"${hash}"`, encoded: new Map() };
}

function ownVersion(registry: Registry, group: string, version: string): object {
  const listed = apiResourceList(registry, { group, version, isHashed: false })?.resources ?? [];
  const isCustom = registry.endpointsOf(group, version).some(({ custom }) => custom !== undefined);
  // Upstream names the group version of custom resources, and leaves out that of built-in kinds.
  const resources = discoveredResources(listed, isCustom ? { group, version } : undefined);
  return { version, resources, freshness: 'Current' };
}

/** Answers 304 if the client has the same document. Its ETag must be the only one, as upstream compares the whole header. */
async function answerList(exchange: Exchange, list: List, asked: RequestedForm): Promise<Answer> {
  const { etag } = list;
  const caching = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' };
  if (exchange.headers['if-none-match'] === etag) {
    return { code: 304, headers: caching, body: Buffer.alloc(0) };
  }
  const { form, format, pretty, type } = asked;
  const key = `${format} ${apiVersionOf(form)}`;
  const known = list.encoded.get(key) ?? ENCODERS[format](list, form);
  list.encoded.set(key, known);
  const body = pretty ? prettyJson(known) : known;
  const contentType = `${type};g=${form.group};v=${form.version};as=${form.kind}`;
  const answer = await compressed(exchange, {
    code: 200,
    headers: { 'Content-Type': contentType, ...caching },
    body,
  });
  return 'Content-Encoding' in answer.headers
    ? { ...answer, headers: { ...answer.headers, Vary: 'Accept, Accept-Encoding' } }
    : answer;
}

const ENCODERS: Readonly<Record<Format, (list: List, form: GroupVersionKind) => Buffer>> = {
  json: ({ json }, form) => Buffer.concat([headOf(form), json, Buffer.from('\n')]),
  yaml: ({ json }, form) => Buffer.from(yamlOf(JSON.parse(Buffer.concat([headOf(form), json]).toString()))),
  protobuf: ({ json }, form) => {
    const list = JSON.parse(`{${json.toString()}`) as APIGroupDiscoveryList;
    const raw = encodeProtobuf(LIST, list);
    return wrapEnvelope({ kind: form.kind, apiVersion: apiVersionOf(form), raw });
  },
};

function headOf(form: GroupVersionKind): Buffer {
  return Buffer.from(`{"kind":"${form.kind}","apiVersion":"${apiVersionOf(form)}",`);
}
