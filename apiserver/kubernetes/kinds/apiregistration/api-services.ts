import type {
  APIService,
  APIServiceCondition,
  APIServiceSpec,
} from '../../../../shared/api/types/apiregistration-v1';
import { GROUP } from '../../../../shared/names';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentProblems,
} from '../../../../shared/meta/dns-names';
import { pathSegmentName } from '../../../../shared/meta/name-rules';
import { formatTime } from '../../../../shared/meta/time';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { choice, forEachItem, invalidForEach } from '../rules/primitives';
import { servicePort } from '../rules/webhook-clients';

const GROUP_PRIORITY_MAX = 20_000;
const VERSION_PRIORITY_MAX = 1000;

/** Which server answers for a group version. One that this server answers itself is available from the beginning. */
const apiServiceRules: Pick<Strategy<APIService>, 'prepareForCreate' | 'validate' | 'subresources'> = {
  prepareForCreate: (object, { nowMs }) =>
    object.spec.service === undefined
      ? { ...object, status: { conditions: [{ ...LOCAL_CONDITION, lastTransitionTime: formatTime(nowMs) }] } }
      : object,
  validate: validateApiService,
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next) =>
        forEachItem(next.status?.conditions ?? [], 'status.conditions', ({ status }, path) =>
          choice(status, `${path}.status`, ['True', 'False', 'Unknown']),
        ),
    },
  },
};

/** What is said of those that name no Service. */
export const LOCAL_CONDITION = {
  type: 'Available',
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
} as const satisfies Omit<APIServiceCondition, 'lastTransitionTime'>;

function validateApiService({ metadata, spec }: APIService): FieldError[] {
  const { group = '', version = '' } = spec;
  return [
    ...validateNames(metadata, `${version}.${group}`),
    ...(group === '' && version !== 'v1'
      ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : invalidForEach(dns1123SubdomainProblems(group), group, 'spec.group')),
    ...invalidForEach(dns1035LabelProblems(version), version, 'spec.version'),
    ...priority(spec.groupPriorityMinimum, 'spec.groupPriorityMinimum', GROUP_PRIORITY_MAX),
    ...priority(spec.versionPriority, 'spec.versionPriority', VERSION_PRIORITY_MAX),
    ...validateService(spec),
  ];
}

/** It is called by the group version, also where the server is to complete its name. */
function validateNames(metadata: ObjectMeta, expected: string): FieldError[] {
  const why = `must be \`spec.version+"."+spec.group\`: ${goQuote(expected)}`;
  return (['generateName', 'name'] as const).flatMap((field) => {
    const { [field]: given = '' } = metadata;
    const isAsked = given !== '' && given !== expected && pathSegmentProblems(given).length === 0;
    return isAsked ? [invalid(`metadata.${field}`, given, why)] : [];
  });
}

/** The greatest one is good too, whatever the text says. */
function priority(given: number, path: string, max: number): FieldError[] {
  if (given >= 1 && given <= max) return [];
  return [invalid(path, given, `must be positive and less than ${String(max)}`)];
}

function validateService({
  service,
  insecureSkipTLSVerify: skipsVerify = false,
  caBundle = '',
}: APIServiceSpec): FieldError[] {
  const bundleBytes = Buffer.byteLength(caBundle, 'base64');
  const hasBundle = bundleBytes > 0;
  const skip = 'spec.insecureSkipTLSVerify';
  if (service === undefined) {
    return [
      ...(hasBundle
        ? [
            invalid(
              'spec.caBundle',
              `${String(bundleBytes)} bytes`,
              'local APIServices may not have a caBundle',
            ),
          ]
        : []),
      ...(skipsVerify ? [invalid(skip, true, 'local APIServices may not have insecureSkipTLSVerify')] : []),
    ];
  }
  return [
    ...(['namespace', 'name'] as const)
      .filter((field) => (service[field] ?? '') === '')
      .map((field) => required(`spec.service.${field}`)),
    ...(service.port === undefined ? [] : servicePort(service.port, 'spec.service.port')),
    ...(skipsVerify && hasBundle ? [invalid(skip, true, 'may not be true if caBundle is present')] : []),
  ];
}

const apiServiceTable = tableOf<APIService>([
  NAME,
  {
    name: 'Service',
    cell: ({ spec: { service } }) =>
      service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`,
  },
  { name: 'Available', cell: availability },
  AGE,
]);

function availability({ status }: APIService): string {
  const found = status?.conditions?.find(({ type }) => type === 'Available');
  if (found === undefined) return 'Unknown';
  return found.status === 'True' ? found.status : `${found.status} (${found.reason ?? ''})`;
}

export const apiServices: Kind<APIService> = {
  strategy: {
    nameRule: pathSegmentName,
    compat: {
      metadataChecks: 'no domains',
      statusTakes: ['deletionGracePeriodSeconds', 'deletionTimestamp', 'generateName'],
      keyInErrors: `${GROUP.apiregistration}/apiservices`,
    },
    statusLeavesMetadata: true,
    requiresResourceVersion: true,
    ...apiServiceRules,
  },
  table: apiServiceTable,
};
