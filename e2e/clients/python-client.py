"""The Python client: create, list, watch, patches, and server-side apply by the dynamic client."""

import json
import threading

import kubernetes
from kubernetes import client, config, dynamic, watch

NAMESPACE = "python-client"
# A controller-manager puts a ConfigMap of its own into every namespace.
SELECTION = {"namespace": NAMESPACE, "label_selector": "made=here"}

print(f"version {kubernetes.__version__}")
config.load_kube_config()
core = client.CoreV1Api()
core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))

version = core.list_namespaced_config_map(**SELECTION).metadata.resource_version
stream = watch.Watch()
seen = []


def follow():
    for event in stream.stream(core.list_namespaced_config_map, **SELECTION, resource_version=version):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            stream.stop()


follower = threading.Thread(target=follow)
follower.start()
metadata = client.V1ObjectMeta(name="a", labels={"made": "here"})
core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=metadata, data={"key": "one"}))
assert core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"key": "two"}}).data == {"key": "two"}
core.delete_namespaced_config_map("a", NAMESPACE)
follower.join()
assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")], seen
print("checked watch")

try:
    core.read_namespaced_config_map("missing", NAMESPACE)
    raise AssertionError("a missing object was found")
except client.ApiException as error:
    assert error.status == 404 and "NotFound" in error.body
print("checked errors")

deployment = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": NAMESPACE},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}},
    },
}
deployments = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="apps/v1", kind="Deployment")
# The client of Debian 12 sends only text as an applied configuration.
applied = deployments.server_side_apply(
    body=json.dumps(deployment), name="web", namespace=NAMESPACE, field_manager="python"
)
assert applied.metadata.managedFields[0].operation == "Apply"
assert client.AppsV1Api().read_namespaced_deployment_scale("web", NAMESPACE).spec.replicas == 1
print("checked server-side apply")
