import { isInForce } from '../../../../shared/api/changes';
import { StatusError, badRequest } from '../../../../shared/errors/status-error';
import { generateName } from '../../../../shared/meta/generate-name';
import type { NameRule } from '../../../../shared/meta/name-rules';
import { subdomainName } from '../../../../shared/meta/name-rules';
import type { ApiObject } from '../../../../shared/object/object';
import { validateObjectMeta } from '../../../../shared/meta/validate-metadata';
import type { WriteAttempt } from '../write-attempt';
import { withTrackedFieldsOnly } from '../field-tracking';
import { metadataForCreate, timestamp, wipeSystemMetadata, withoutMetadata } from '../metadata';
import type { StoredResource } from '../resource';
import type { MetadataChecks, Strategy } from '../strategy';
import { withStatus } from '../strategy';
import { writeInfo } from '../write-context';
import { isVersion } from './change';

/** Removes what a client may not set, before mutating webhooks see the object. */
export function wipeNew(draft: WriteAttempt): void {
  const { object } = draft;
  draft.object = { ...object, metadata: wipeSystemMetadata(object.metadata) };
}

/** Sets the fields of a new object that only the server sets. Throws BadRequest if mutation moved the object. */
export function prepareNew(draft: WriteAttempt): void {
  const { context, request, uid } = draft.asked;
  const { endpoint } = request;
  const { strategy } = endpoint.stored;
  draft.isNameGenerated = (draft.object.metadata.name ?? '') === '';
  draft.name = nameOfNew(draft);
  const object = withTrackedFieldsOnly(context, draft.object);
  const dropsStatus =
    strategy.compat?.keepsStatusOnCreate !== true &&
    endpoint.row.subresources.some((each) => each.name === 'status');
  const prepared: ApiObject = {
    ...(dropsStatus ? withStatus(object, undefined) : object),
    metadata: metadataForCreate(object.metadata, {
      name: draft.name,
      namespace: checkedNamespace(draft),
      uid,
      creationTimestamp: timestamp(context.clock.now()),
      generation: strategy.tracksGeneration === true ? 1 : undefined,
    }),
  };
  draft.object = strategy.prepareForCreate?.(prepared, writeInfo(context, request)) ?? prepared;
}

/** Collects all validation errors of a new object. */
export function validateNew(draft: WriteAttempt): void {
  const { asked, object } = draft;
  const { stored } = asked.request.endpoint;
  const { strategy } = stored;
  const info = { ...writeInfo(asked.context, asked.request), sent: draft.sent };
  const metadata = validateObjectMeta(object.metadata, {
    namespaced: stored.namespaced,
    validateName: nameRuleOf(strategy),
    path: 'metadata',
    freeFinalizers: asksNoDomains(stored),
  });
  const found = [
    ...(strategy.validate?.(object, info) ?? []),
    ...(strategy.validateNew?.(object, info) ?? []),
  ];
  const others = found.length === 0 ? found : (strategy.ratchets?.(found, undefined, info) ?? found);
  const isLater = strategy.compat?.metadataChecks === 'afterwards' && others.length > 0;
  draft.faults = isLater ? others : [...metadata, ...others];
}

/** Returns the name of the new object: a mutating webhook may have set it or its generateName. */
function nameOfNew({ asked: { context, request, options }, object }: WriteAttempt): string {
  const { name: own = '', generateName: base = '' } = object.metadata;
  const { isNamedByUid = false } = request.endpoint.stored.strategy.compat ?? {};
  const isUid = isNamedByUid && (base === '' || !isInForce('generatedNamesFirst'));
  const generate = (): string => (isUid ? context.newUid() : generateName(base, context.randomInt));
  const name = own === '' && (isNamedByUid || base !== '') ? generate() : own;
  if (options.creates === 'never' || name === '' || name === request.name) return name;
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${request.name})`);
}

/**
 * Returns the namespace of the request; undefined for a kind without namespaces. Throws BadRequest if
 * mutation has set another one. Source: rest.EnsureObjectNamespaceMatchesRequestNamespace.
 */
export function checkedNamespace({ asked: { request }, object }: WriteAttempt): string | undefined {
  const { namespace } = request;
  if (!request.endpoint.stored.namespaced) return undefined;
  const { namespace: own = '' } = object.metadata;
  if (own === '' || own === namespace) return namespace;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/**
 * Refuses a creation with a resourceVersion above 0, as the store of upstream does; not in a dry run. Throws
 * BadRequest if the client has sent it, and an error with the code 500 if a webhook has set it.
 */
export function refuseVersion(draft: WriteAttempt): void {
  const { asked, sent, object } = draft;
  const { resourceVersion = '' } = object.metadata;
  draft.object = withoutMetadata(object, 'resourceVersion');
  if (asked.options.creates !== 'never' || asked.request.dryRun) return;
  if (!isVersion(resourceVersion) || BigInt(resourceVersion) === 0n) return;
  const why = 'resourceVersion should not be set on objects to be created';
  const isSent = resourceVersion === sent.metadata.resourceVersion;
  throw isSent ? badRequest(why) : new StatusError('', why, { code: 500 });
}

export function nameRuleOf({ nameRule = subdomainName }: Strategy): NameRule {
  return nameRule;
}

/** Whether finalizers need neither a domain nor a standard name. */
function asksNoDomains({ custom, strategy: { compat = {} } }: StoredResource): boolean {
  const { metadataChecks = 'all' } = compat;
  return custom !== undefined || FREE_WHEN_NEW.has(metadataChecks);
}

const FREE_WHEN_NEW: ReadonlySet<MetadataChecks> = new Set(['no domains', 'afterwards', 'least']);
