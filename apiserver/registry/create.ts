import { Pace } from '../../shared/concurrency/pace';
import type { ApiObject } from '../../shared/object/object';
import { StatusError, alreadyExists } from '../../shared/errors/status-error';
import type { FieldError } from '../../shared/errors/field-error';
import { invalidObject } from '../../shared/errors/field-error';
import { generateName } from '../../shared/meta/generate-name';
import { subdomainName } from '../../shared/meta/name-rules';
import { validateObjectMeta } from '../../shared/meta/validate-metadata';
import { tracked, withTrackedFieldsOnly } from './field-tracking';
import { toHub } from './hub';
import { isTerminating, metadataForCreate, timestamp } from './metadata';
import type { Admitted } from './admit';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';
import { admit } from './admit';
import { kindInErrors } from './resource';
import { writeInfo } from './write-context';
import { writeTarget } from './write-target';
import { withStatus } from './strategy';
import type { Written } from './write';
import { writeOptimistically } from './write';

const GENERATED_NAME_TRIES_MAX = 8;

/** Creates the object, which is in the endpoint's version. Refuses with AlreadyExists, Invalid, or whatever admission says. */
export async function createObject(
  context: WriteContext,
  request: WriteRequest,
  object: ApiObject,
  signal: AbortSignal,
): Promise<Written> {
  const { isNamedByUid = false } = request.endpoint.stored.strategy;
  const sent = object.metadata.name ?? '';
  const given = sent === '' && isNamedByUid ? context.newUid() : sent;
  const base = object.metadata.generateName ?? '';
  if (given !== '' || base === '') return createNamed(context, { ...request, name: given }, object, signal);
  for (let tries = 1; ; tries += 1) {
    const name = generateName(base, context.randomInt);
    try {
      return await createNamed(context, { ...request, name }, object, signal);
    } catch (error) {
      if (tries >= GENERATED_NAME_TRIES_MAX || !isNameTaken(error)) throw error;
    }
  }
}

function isNameTaken(error: unknown): boolean {
  return error instanceof StatusError && error.status.reason === 'AlreadyExists';
}

async function createNamed(
  context: WriteContext,
  request: WriteRequest,
  object: ApiObject,
  signal: AbortSignal,
): Promise<Written> {
  const { endpoint, name } = request;
  const uid = context.newUid();
  const target = writeTarget(context, request, { assumeAbsent: true });
  return writeOptimistically(
    target,
    async (current) => {
      if (current !== undefined) {
        const why = isTerminating(current.object.metadata) ? 'object is being deleted: ' : '';
        throw alreadyExists(endpoint.row, name, why);
      }
      const pace = new Pace();
      const next = toHub(endpoint, tracked(context, request, { live: undefined, next: object }));
      const sent = validateSent(context, request, object);
      if (pace.isDue) await pace.rest();
      return { kind: 'put', ...(await admitNew(context, request, { object: next, uid, sent }, signal)) };
    },
    signal,
  );
}

/** The object as it will be stored for the first time; also the way in which a PUT creates. */
export async function admitNew(
  context: WriteContext,
  request: WriteRequest,
  created: { readonly object: ApiObject; readonly uid: string; readonly sent: readonly FieldError[] },
  signal: AbortSignal,
): Promise<Admitted> {
  return admit(
    context,
    request,
    {
      operation: 'CREATE',
      object: created.object,
      oldObject: undefined,
      prepare: (admitted) => {
        const object = withTrackedFieldsOnly(context, admitted);
        return prepareForCreate(context, request, { object, uid: created.uid });
      },
      validate: (object) => {
        validateNew(context, request, { object, sent: created.sent });
      },
    },
    signal,
  );
}

function prepareForCreate(
  context: WriteContext,
  request: WriteRequest,
  { object, uid }: { readonly object: ApiObject; readonly uid: string },
): ApiObject {
  const { endpoint, namespace, name } = request;
  const { strategy, namespaced } = endpoint.stored;
  const dropsStatus =
    strategy.keepsStatusOnCreate !== true && endpoint.row.subresources.some((each) => each.name === 'status');
  const prepared: ApiObject = {
    ...(dropsStatus ? withStatus(object, undefined) : object),
    metadata: metadataForCreate(object.metadata, {
      name,
      namespace: namespaced ? namespace : undefined,
      uid,
      creationTimestamp: timestamp(context.clock.now()),
      generation: strategy.tracksGeneration === true ? 1 : undefined,
    }),
  };
  return strategy.prepareForCreate?.(prepared, writeInfo(context, request)) ?? prepared;
}

/** What is wrong with an object as it was sent, in the version of the request. */
export function validateSent(
  context: WriteContext,
  request: WriteRequest,
  object: ApiObject,
): readonly FieldError[] {
  const { strategy } = request.endpoint.stored;
  return strategy.validateSent?.(object, writeInfo(context, request)) ?? [];
}

function validateNew(
  context: WriteContext,
  request: WriteRequest,
  { object, sent }: { readonly object: ApiObject; readonly sent: readonly FieldError[] },
): void {
  const { stored } = request.endpoint;
  const info = writeInfo(context, request);
  const errors = [
    ...validateObjectMeta(object.metadata, {
      namespaced: stored.namespaced,
      validateName: stored.strategy.nameRule ?? subdomainName,
      path: 'metadata',
      freeFinalizers: stored.custom !== undefined,
    }),
    ...sent,
    ...(stored.strategy.validate?.(object, info) ?? []),
    ...(stored.strategy.validateNew?.(object, info) ?? []),
  ];
  if (errors.length > 0) throw invalidObject(kindInErrors(stored), request.name, errors);
}
