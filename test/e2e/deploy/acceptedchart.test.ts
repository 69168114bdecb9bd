import assert from 'node:assert/strict'
import { foreignCrds, noForeignCrds } from '../../support/crds.ts'
import { notRun } from '../../support/notrun.ts'
import { etcdProgram, noEtcd } from '../../support/servers/etcd.ts'
import {
  type KubeApiserver,
  kubeApiserverProgram,
  noKubeApiserver,
  startKubeApiserver,
} from '../../support/servers/kubeapiserver.ts'
import { hasHelm, noHelm, type Rendered, render, roles } from './rendered.ts'

const program = kubeApiserverProgram()
const foreign = ['Certificate', 'PrometheusRule', 'ServiceMonitor']

interface Claims {
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
}

/** The pod that the controller of the workload would create, with its claims as empty directories. */
function pod({ spec }: Rendered): { readonly spec: object } {
  const { volumeClaimTemplates = [] } = spec as Claims
  const { volumes = [], ...own } = spec.template.spec
  const claimed = volumeClaimTemplates.map(({ metadata: { name } }) => ({ name, emptyDir: {} }))
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', namespace: 'oriel' } },
    spec: { ...own, volumes: [...volumes, ...claimed] },
  }
}

const flows = (binary: string) =>
  function (this: Mocha.Suite): void {
    this.timeout(240_000)
    const definitions = foreignCrds().filter(({ spec }) =>
      foreign.includes((spec as { readonly names: { readonly kind: string } }).names.kind),
    )
    let cluster: KubeApiserver
    before(async () => {
      cluster = await startKubeApiserver(binary)
      const { kubectl } = cluster
      await kubectl(['create', 'namespace', 'oriel'])
      // Refuses pods that are not restricted (Pod Security Standards).
      await kubectl(['label', 'namespace', 'oriel', 'pod-security.kubernetes.io/enforce=restricted'])
      for (const definition of definitions) await kubectl(['create', '-f', '-'], JSON.stringify(definition))
      if (definitions.length > 0) await kubectl(['wait', '--for=condition=Established', 'crd', '--all'])
    })
    after(() => cluster.stop())

    const dryRun = (object: object) =>
      cluster.kubectl(
        ['apply', '--dry-run=server', '--validate=strict', '-n', 'oriel', '-f', '-'],
        JSON.stringify(object),
      )

    const isComplete = definitions.length === foreign.length
    if (!isComplete) notRun('takes the objects of cert-manager and of the Prometheus operator', noForeignCrds)

    for (const [role, values] of Object.entries(roles)) {
      it(`takes all objects of ${role}`, async () => {
        const isServed = ({ kind }: Rendered) => isComplete || !foreign.includes(kind)
        for (const object of (await render(...values)).filter(isServed))
          assert.match(await dryRun(object), /(created|configured|unchanged) \(server dry run\)/)
      })

      it(`admits the pods of ${role} as restricted ones`, async () => {
        const objects = await render(...values)
        const account = objects.find(({ kind }) => kind === 'ServiceAccount') ?? assert.fail('no account')
        await cluster.kubectl(['apply', '-n', 'oriel', '-f', '-'], JSON.stringify(account))
        const workload =
          objects.find(({ spec }) => spec?.template !== undefined) ?? assert.fail('no workload')
        assert.match(await dryRun(pod(workload)), /pod\/one created \(server dry run\)/)
      })
    }

    it('refuses a field that Kubernetes does not know, and a pod with privileges', async () => {
      const workload = (await render()).find(({ spec }) => spec?.template !== undefined) ?? assert.fail()
      const unknown = { ...workload, spec: { ...workload.spec, colour: 'red' } }
      await assert.rejects(dryRun(unknown), /unknown field "spec\.colour"/)
      const { spec, ...rest } = pod(workload)
      const privileged = { ...rest, spec: { ...spec, hostNetwork: true } }
      await assert.rejects(dryRun(privileged), /violates PodSecurity "restricted:latest"/)
    })
  }

if (!hasHelm) notRun('the chart in Kubernetes', noHelm)
else if (etcdProgram() === undefined) notRun('the chart in Kubernetes', noEtcd)
else if (program === undefined) notRun('the chart in Kubernetes', noKubeApiserver)
else describe('the chart in Kubernetes', flows(program))
