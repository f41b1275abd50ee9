import type { ApiObject } from '../object/object';
import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { changeList, changeObject, objectAt, textAt, without } from '../object/json';
import { movesConversion } from './moves';

const DEFAULT_BACKEND = movesConversion([['spec.backend', 'spec.defaultBackend']]);

/** Ingress of extensions/v1beta1 and networking/v1beta1: a backend has its service in two flat fields. */
export const INGRESS: Conversion = {
  toHub: (object) => eachBackend(DEFAULT_BACKEND.toHub(object), nestedBackend) as ApiObject,
  fromHub: (object) => DEFAULT_BACKEND.fromHub(eachBackend(object, flatBackend) as ApiObject),
};

/** Changes each backend of an Ingress whose default backend has its hub name. */
function eachBackend(ingress: ReadonlyJson, change: (backend: ReadonlyJson) => ReadonlyJson): ReadonlyJson {
  return changeObject(ingress, 'spec', (spec) =>
    changeList(changeObject(spec, 'defaultBackend', change), 'rules', (rule) =>
      changeObject(rule, 'http', (http) =>
        changeList(http, 'paths', (path) => changeObject(path, 'backend', change)),
      ),
    ),
  );
}

function nestedBackend(backend: ReadonlyJson): ReadonlyJson {
  const { serviceName, servicePort } = backend;
  const rest = without(backend, 'serviceName', 'servicePort');
  const isService = textAt(backend, 'serviceName') !== '' || isPort(servicePort);
  if (!isService) return rest;
  const port = typeof servicePort === 'string' ? { name: servicePort } : { number: servicePort ?? 0 };
  return { ...rest, service: { name: serviceName ?? '', port } };
}

/** True for a number other than 0, or any string. */
function isPort(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'number' && value !== 0);
}

function flatBackend(backend: ReadonlyJson): ReadonlyJson {
  const service = objectAt(backend, 'service');
  const rest = without(backend, 'service');
  if (service === undefined) return rest;
  const port = objectAt(service, 'port') ?? {};
  const name = textAt(port, 'name');
  return {
    ...rest,
    serviceName: service['name'],
    servicePort: name === '' ? (port['number'] ?? 0) : name,
  };
}
