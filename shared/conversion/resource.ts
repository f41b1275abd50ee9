import type { ReadonlyJson } from '../object/json';
import { changeList, changeObject, objectAt, without } from '../object/json';
import type { ApiObject } from '../object/object';
import type { Conversion } from './conversion';

/** resource/v1beta1 has the fields of a request for certain devices in the request itself, and those of a device in `basic`. */

const REQUEST_FIELDS = [
  'deviceClassName',
  'selectors',
  'allocationMode',
  'count',
  'adminAccess',
  'tolerations',
  'capacity',
];

export const RESOURCE_CLAIM: Conversion = {
  toHub: (object) => inSpec(object, (spec) => eachRequest(spec, nestedRequest)),
  fromHub: (object) => inSpec(object, (spec) => eachRequest(spec, flatRequest)),
};

export const RESOURCE_CLAIM_TEMPLATE: Conversion = {
  toHub: (object) =>
    inSpec(object, (spec) => changeObject(spec, 'spec', (inner) => eachRequest(inner, nestedRequest))),
  fromHub: (object) =>
    inSpec(object, (spec) => changeObject(spec, 'spec', (inner) => eachRequest(inner, flatRequest))),
};

export const RESOURCE_SLICE: Conversion = {
  toHub: (object) => inSpec(object, (spec) => changeList(spec, 'devices', flatDevice)),
  fromHub: (object) => inSpec(object, (spec) => changeList(spec, 'devices', nestedDevice)),
};

function inSpec(object: ApiObject, change: (spec: ReadonlyJson) => ReadonlyJson): ApiObject {
  return changeObject(object, 'spec', change) as ApiObject;
}

function eachRequest(spec: ReadonlyJson, change: (request: ReadonlyJson) => ReadonlyJson): ReadonlyJson {
  return changeObject(spec, 'devices', (devices) => changeList(devices, 'requests', change));
}

/** A request without any of the fields has alternatives instead. */
function nestedRequest(request: ReadonlyJson): ReadonlyJson {
  const given = REQUEST_FIELDS.filter((name) => !isUnset(request[name]));
  const rest = without(request, ...REQUEST_FIELDS);
  if (given.length === 0) return rest;
  return { ...rest, exactly: Object.fromEntries(given.map((name) => [name, request[name]])) };
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 0;
}

function flatRequest(request: ReadonlyJson): ReadonlyJson {
  return { ...without(request, 'exactly'), ...objectAt(request, 'exactly') };
}

function flatDevice(device: ReadonlyJson): ReadonlyJson {
  return { ...without(device, 'basic'), ...objectAt(device, 'basic') };
}

function nestedDevice(device: ReadonlyJson): ReadonlyJson {
  const { name, ...basic } = device;
  return { name, basic };
}
