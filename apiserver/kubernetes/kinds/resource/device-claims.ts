import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
} from '../../../../shared/api/types/resource-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { requiredText } from '../rules/primitives';
import { deviceName, deviceToleration, driverData, driverName, qualifiedAttributeName } from './device-names';
import type { SelectorValidator } from './device-selectors';
import { limitedList, limitedSet } from './lists';

/** What a claim requests, and what classes and claims say of devices. */

const REQUESTS_MAX = 32;
const ALTERNATIVES_MAX = 8;
const TOLERATIONS_MAX = 16;
export const PARAMETERS_BYTES_MAX = 10 * 1024;
export const CONFIG_MAX = 32;

/** The names of requests; of a request with alternatives also `request/alternative`. */
export type RequestNames = ReadonlySet<string>;

/** Returns the names that other parts of the claim and its status may refer to. */
export function requestNamesOf({ requests }: DeviceClaim): RequestNames {
  return new Set(
    (requests ?? []).flatMap(({ name, firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((alternative) => `${name}/${alternative.name}`),
    ]),
  );
}

/** Validates the devices of a new claim, or of the claims of a template. */
export function validateDeviceClaim(
  claim: DeviceClaim,
  path: string,
  selectors: SelectorValidator,
): FieldError[] {
  const names = requestNamesOf(claim);
  return [
    ...limitedSet(claim.requests, `${path}.requests`, {
      max: REQUESTS_MAX,
      rule: (request, at) => validateRequest(request, at, selectors),
      keyOf: ({ name }) => name,
    }),
    ...limitedList(claim.constraints, `${path}.constraints`, {
      max: CONFIG_MAX,
      rule: (constraint, at) => validateConstraint(constraint, at, names),
    }),
    ...limitedList(claim.config, `${path}.config`, {
      max: CONFIG_MAX,
      rule: (config, at) => validateClaimConfig(config, at, names),
    }),
  ];
}

function validateRequest(
  { name, exactly, firstAvailable = [] }: DeviceRequest,
  path: string,
  selectors: SelectorValidator,
): FieldError[] {
  const one = 'exactly one of `exactly` or `firstAvailable` is required';
  const nameErrors = deviceName(name, `${path}.name`);
  if (exactly === undefined && firstAvailable.length === 0) return [...nameErrors, required(path, one)];
  if (exactly !== undefined && firstAvailable.length > 0) {
    return [...nameErrors, invalid(path, undefined, `${one}, but multiple fields are set`)];
  }
  if (exactly !== undefined) return [...nameErrors, ...validateExact(exactly, `${path}.exactly`, selectors)];
  return [
    ...nameErrors,
    ...limitedSet(firstAvailable, `${path}.firstAvailable`, {
      max: ALTERNATIVES_MAX,
      rule: (alternative, at) => [
        ...deviceName(alternative.name, `${at}.name`),
        ...validateExact(alternative, at, selectors),
      ],
      keyOf: (alternative) => alternative.name,
    }),
  ];
}

function validateExact(
  request: ExactDeviceRequest | DeviceSubRequest,
  path: string,
  selectors: SelectorValidator,
): FieldError[] {
  return [
    ...requiredText(request.deviceClassName, `${path}.deviceClassName`, dns1123SubdomainProblems),
    ...selectors.validate(request.selectors, `${path}.selectors`),
    ...validateAmount(request, path),
    ...limitedList(request.tolerations, `${path}.tolerations`, {
      max: TOLERATIONS_MAX,
      rule: deviceToleration,
    }),
  ];
}

function validateAmount(
  { allocationMode: mode = '', count = 0 }: Pick<ExactDeviceRequest, 'allocationMode' | 'count'>,
  path: string,
): FieldError[] {
  switch (mode) {
    case 'All':
      return count === 0
        ? []
        : [invalid(`${path}.count`, count, "must not be specified when allocationMode is 'All'")];
    case 'ExactCount':
      return count > 0 ? [] : [invalid(`${path}.count`, count, 'must be greater than zero')];
    default:
      return [notSupported(`${path}.allocationMode`, mode, ['All', 'ExactCount'])];
  }
}

function validateConstraint(
  { requests, matchAttribute, distinctAttribute }: DeviceConstraint,
  path: string,
  names: RequestNames,
): FieldError[] {
  const why =
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [
    ...requestReferences(requests, `${path}.requests`, names),
    ...(matchAttribute === undefined
      ? distinctAttribute === undefined
        ? [required(path, why)]
        : qualifiedAttributeName(distinctAttribute, `${path}.distinctAttribute`)
      : qualifiedAttributeName(matchAttribute, `${path}.matchAttribute`)),
  ];
}

function validateClaimConfig(
  config: DeviceClaimConfiguration,
  path: string,
  names: RequestNames,
): FieldError[] {
  return [
    ...requestReferences(config.requests, `${path}.requests`, names),
    ...validateConfiguration(config, path),
  ];
}

/** Validates a list of different requests of the claim. */
export function requestReferences(
  requests: readonly string[] | undefined,
  path: string,
  names: RequestNames,
): FieldError[] {
  return limitedSet(requests, path, {
    max: REQUESTS_MAX,
    rule: (name, at) => requestReference(name, at, names),
    keyOf: (name) => name,
  });
}

/** Validates the name of a request of the claim, or of one of its alternatives. */
export function requestReference(name: string, path: string, names: RequestNames): FieldError[] {
  const why =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const segments = name.split('/');
  if (segments.length > 2) return [invalid(path, name, why)];
  return [
    ...segments.flatMap((segment) => deviceName(segment, path)),
    ...(names.has(name) ? [] : [invalid(path, name, why)]),
  ];
}

/** Validates the parameters of a driver in a claim or a class; `isStored`: an update leaves them as they are. */
export function validateConfiguration(
  { opaque }: DeviceConfiguration,
  path: string,
  isStored = false,
): FieldError[] {
  if (opaque === undefined) return [required(`${path}.opaque`)];
  return [
    ...driverName(opaque.driver, `${path}.opaque.driver`),
    ...driverData(opaque.parameters, `${path}.opaque.parameters`, {
      bytesMax: PARAMETERS_BYTES_MAX,
      isStored,
    }),
  ];
}
