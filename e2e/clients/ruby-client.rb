# kubeclient: create, get, merge patch, server-side apply, watch and delete.
require 'kubeclient'

NAMESPACE = 'ruby-client'
puts "version #{Kubeclient::VERSION}"
config = Kubeclient::Config.read(ENV.fetch('KUBECONFIG'))
options = { ssl_options: config.context.ssl_options, auth_options: config.context.auth_options }
core = Kubeclient::Client.new("#{config.context.api_endpoint}/api", 'v1', **options)
apps = Kubeclient::Client.new("#{config.context.api_endpoint}/apis/apps", 'v1', **options)

def check(condition, message)
  raise message unless condition
end

core.create_namespace(Kubeclient::Resource.new(metadata: { name: NAMESPACE }))
# A controller-manager puts a ConfigMap of its own into every namespace.
selection = { namespace: NAMESPACE, label_selector: 'made=here' }
version = core.get_config_maps(selection).resourceVersion
watcher = core.watch_config_maps(selection.merge(resource_version: version))
types = []
follower = Thread.new do
  watcher.each do |notice|
    types << notice.type
    break if notice.type == 'DELETED'
  end
end
metadata = { name: 'a', namespace: NAMESPACE, labels: { made: 'here' } }
core.create_config_map(Kubeclient::Resource.new(metadata: metadata, data: { key: 'one' }))
patched = core.merge_patch_config_map('a', { data: { key: 'two' } }, NAMESPACE)
check(patched.data.key == 'two', 'the patch changed nothing')
core.delete_config_map('a', NAMESPACE)
follower.join
check(types == %w[ADDED MODIFIED DELETED], "watched #{types}")
puts 'checked watch'

web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: NAMESPACE },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }
  }
}
apps.apply_deployment(web, field_manager: 'ruby')
check(apps.get_deployment('web', NAMESPACE).spec.replicas == 1, 'no defaults were set')
puts 'checked server-side apply'

begin
  core.get_config_map('missing', NAMESPACE)
  raise 'a missing object was found'
rescue Kubeclient::ResourceNotFoundError => error
  check(error.error_code == 404, 'the error has another code')
end
puts 'checked errors'
