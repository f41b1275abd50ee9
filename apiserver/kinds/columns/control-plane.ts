import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from './cells';
import { UNSET } from './format';
import { sliceItems } from '../networking/columns';
import { createdAtRow } from './created-at';
import { ageOf, at, flagAt, listAt, nameOf, numberAt, textAt, textOr } from './read';

/** Kinds that describe the API server itself, or what nodes and schedulers are told: groups of one or two small kinds. */

const webhookConfigurationRow: RowOf = (configuration) => [
  nameOf(configuration),
  listAt(configuration, 'webhooks').length,
  ageOf(configuration),
];

const apiServiceRow: RowOf = (apiService) => {
  const service = at(apiService, 'spec', 'service');
  return [
    nameOf(apiService),
    service === undefined ? 'Local' : `${textAt(service, 'namespace')}/${textAt(service, 'name')}`,
    availability(apiService),
    ageOf(apiService),
  ];
};

function availability(apiService: ApiObject): string {
  const found = listAt(apiService, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === 'Available',
  );
  if (found === undefined) return 'Unknown';
  const status = textAt(found, 'status');
  return status === 'True' ? status : `${status} (${textAt(found, 'reason')})`;
}

const storageVersionRow: RowOf = (version) => [
  nameOf(version),
  textOr(UNSET, version, 'status', 'commonEncodingVersion'),
  sliceItems(
    listAt(version, 'status', 'storageVersions').map(
      (each) => `${textAt(each, 'apiServerID')}=${textAt(each, 'encodingVersion')}`,
    ),
  ),
  ageOf(version),
];

const leaseRow: RowOf = (lease) => [nameOf(lease), textAt(lease, 'spec', 'holderIdentity'), ageOf(lease)];

const runtimeClassRow: RowOf = (runtimeClass) => [
  nameOf(runtimeClass),
  textAt(runtimeClass, 'handler'),
  ageOf(runtimeClass),
];

const priorityClassRow: RowOf = (priorityClass) => [
  nameOf(priorityClass),
  numberAt(priorityClass, 'value'),
  flagAt(false, priorityClass, 'globalDefault'),
  ageOf(priorityClass),
];

export const admissionregistration: Readonly<Record<string, RowOf>> = {
  mutatingwebhookconfigurations: webhookConfigurationRow,
  validatingwebhookconfigurations: webhookConfigurationRow,
};
export const apiextensions: Readonly<Record<string, RowOf>> = { customresourcedefinitions: createdAtRow };
export const apiregistration: Readonly<Record<string, RowOf>> = { apiservices: apiServiceRow };
export const apiserverinternal: Readonly<Record<string, RowOf>> = { storageversions: storageVersionRow };
export const coordination: Readonly<Record<string, RowOf>> = { leases: leaseRow };
export const node: Readonly<Record<string, RowOf>> = { runtimeclasses: runtimeClassRow };
export const scheduling: Readonly<Record<string, RowOf>> = { priorityclasses: priorityClassRow };
