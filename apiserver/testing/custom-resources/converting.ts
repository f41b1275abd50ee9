import type {
  Behaviour,
  Review,
  WebhookServer,
} from '../../kubernetes/admission/webhooks/testing/webhook-server';
import type { InProcessApi } from '../in-process-api';
import type { ReadonlyJson } from '../../../shared/object/json';
import { define, definitionBody } from './definitions';

/** URL paths of the objects of {@link defineConverted}, by version. */
export const V1_PATH = '/apis/example.com/v1/namespaces/default/gizmos';
export const V2_PATH = '/apis/example.com/v2/namespaces/default/gizmos';

const V1_SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { host: { type: 'string' }, port: { type: 'integer' }, replicas: { type: 'integer' } },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const V2_SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        address: { type: 'string', pattern: '^[^:]+:[0-9]+$' },
        replicas: { type: 'integer' },
        mode: { type: 'string', default: 'plain' },
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const SUBRESOURCES = {
  status: {},
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
};

/** A definition with two versions: v1 (stored) has host and port, v2 has an address. */
export function convertedDefinition(
  { url, caBundle }: Pick<WebhookServer, 'url' | 'caBundle'>,
  {
    storage = 'v1',
    conversionReviewVersions = ['v1'],
    clientConfig = { url, caBundle },
  }: {
    readonly storage?: 'v1' | 'v2';
    readonly conversionReviewVersions?: readonly string[];
    readonly clientConfig?: ReadonlyJson;
  } = {},
): ReturnType<typeof definitionBody> {
  return definitionBody({
    versions: [
      { name: 'v1', storage: storage === 'v1', schema: V1_SCHEMA, subresources: SUBRESOURCES },
      { name: 'v2', storage: storage === 'v2', schema: V2_SCHEMA, subresources: SUBRESOURCES },
    ],
    spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } } },
  });
}

export async function defineConverted(
  api: InProcessApi,
  ...[webhook, options]: Parameters<typeof convertedDefinition>
): Promise<void> {
  await define(api, convertedDefinition(webhook, options));
}

export function gizmoV1(name: string, spec: ReadonlyJson = { host: 'h', port: 80 }): ReadonlyJson {
  return { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name }, spec };
}

export function gizmoV2(name: string, spec: ReadonlyJson = { address: 'h:80' }): ReadonlyJson {
  return { apiVersion: 'example.com/v2', kind: 'Gizmo', metadata: { name }, spec };
}

/** Answers with correctly converted objects; `change` may corrupt them or the response. */
export function convertingBy(change: (objects: Review[]) => readonly unknown[] = (all) => all): Behaviour {
  return ({ review }) => {
    const { objects, desiredAPIVersion } = review.request as {
      objects: Review[];
      desiredAPIVersion: string;
    };
    return {
      result: { status: 'Success' },
      convertedObjects: change(objects.map((object) => converted(object, desiredAPIVersion))),
    };
  };
}

function converted(object: Review, apiVersion: string): Review {
  const { host, port, address, ...rest } = object.spec ?? {};
  if (apiVersion.endsWith('/v2')) {
    const spec = host === undefined ? rest : { ...rest, address: `${String(host)}:${String(port ?? 0)}` };
    return { ...object, apiVersion, spec };
  }
  const [name, number] = String(address ?? '').split(':');
  const spec = address === undefined ? rest : { ...rest, host: name, port: Number(number) };
  return { ...object, apiVersion, spec };
}
