import { badRequest } from '../../../../shared/errors/status-error';
import type { NameRule } from '../../../../shared/meta/name-rules';
import { subdomainName } from '../../../../shared/meta/name-rules';
import type { ApiObject } from '../../../../shared/object/object';
import { validateObjectMeta } from '../../../../shared/meta/validate-metadata';
import type { WriteAttempt } from '../write-attempt';
import { withTrackedFieldsOnly } from '../field-tracking';
import { metadataForCreate, timestamp } from '../metadata';
import type { StoredResource } from '../resource';
import type { MetadataChecks, Strategy } from '../strategy';
import { withStatus } from '../strategy';
import { writeInfo } from '../write-context';
import { isVersion } from './change';

/** Sets the fields of a new object that only the server sets. */
export function prepareNew(draft: WriteAttempt): void {
  const { context, request, uid } = draft.asked;
  const { endpoint, namespace, name } = request;
  const { strategy, namespaced } = endpoint.stored;
  const object = withTrackedFieldsOnly(context, draft.object);
  const dropsStatus =
    strategy.compat?.keepsStatusOnCreate !== true &&
    endpoint.row.subresources.some((each) => each.name === 'status');
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

/**
 * Throws BadRequest for a creation with a resourceVersion above 0, as the store of upstream does; not in a
 * dry run.
 */
export function refuseVersion({ asked: { request, options }, sent }: WriteAttempt): void {
  const { resourceVersion = '' } = sent.metadata;
  if (options.creates !== 'never' || request.dryRun) return;
  if (!isVersion(resourceVersion) || BigInt(resourceVersion) === 0n) return;
  throw badRequest('resourceVersion should not be set on objects to be created');
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
