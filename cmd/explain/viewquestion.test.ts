import assert from 'node:assert/strict'
import { behindView, isView } from './viewquestion.ts'

const asked = {
  attributes: { resourceAttributes: { verb: 'list', resource: 'widgets' } },
  words: 'list widgets',
}
const behind = (path: string) => behindView(`https://localhost:6443${path}`, asked, 'list')

describe('the review for a request to a view', () => {
  it('is sent to the logical cluster that authorizes it', () => {
    const at = (cluster: string) => `https://localhost:6443/clusters/${cluster}`
    const content = { group: 'apis.kcp.io', resource: 'apiexports', subresource: 'content' }
    assert.deepEqual(behind('/services/apiexport/2hx8/widgets.example.com/clusters/*'), {
      server: at('2hx8'),
      explainer: 'https://localhost:6443/services/explain/clusters/2hx8',
      view: '/services/apiexport/2hx8/widgets.example.com/clusters/*',
      question: {
        attributes: { resourceAttributes: { verb: 'list', ...content, name: 'widgets.example.com' } },
        words:
          'list widgets through apiexport, which requires list apiexports.apis.kcp.io/content "widgets.example.com" in 2hx8',
      },
    })
    for (const [view, verb] of [
      ['initializingworkspaces', 'initialize'],
      ['terminatingworkspaces', 'terminate'],
    ]) {
      const { server, question } = behind(`/services/${view}/root:universal/clusters/*`)
      assert.equal(server, at('root'))
      const type = { group: 'tenancy.kcp.io', resource: 'workspacetypes', name: 'universal' }
      assert.deepEqual(question?.attributes, { resourceAttributes: { verb, ...type } })
    }
  })

  it('has no name of an export for views without one', () => {
    const { server, question } = behind('/services/replication/2hx8/slice/clusters/*')
    assert.equal(server, 'https://localhost:6443/clusters/2hx8')
    assert.deepEqual(question?.attributes, {
      resourceAttributes: {
        verb: 'list',
        group: 'apis.kcp.io',
        resource: 'apiexports',
        subresource: 'content',
      },
    })
    assert.match(
      behind('/services/apiresourceschema/2hx8/clusters/*').question?.words ?? '',
      /which requires get apibindings/,
    )
  })

  it('is about the content of the View, in its workspace', () => {
    const { server, question } = behind('/services/views/2hx8/red-widgets/clusters/*')
    assert.equal(server, 'https://localhost:6443/clusters/2hx8')
    const content = { group: 'views.oriel.dev', resource: 'views', subresource: 'content' }
    assert.deepEqual(question?.attributes, {
      resourceAttributes: { verb: 'list', ...content, name: 'red-widgets' },
    })
  })

  it('is the review of the request for views without own authorization', () => {
    const { server, question } = behind('/services/workspaces/clusters/root')
    assert.equal(server, 'https://localhost:6443/clusters/root')
    assert.equal(question, asked)
  })

  it('is left to the process of views for other views', () => {
    const { server, question } = behind('/services/unknown/clusters/root')
    assert.deepEqual([server, question], ['https://localhost:6443/clusters/root', undefined])
  })

  it('is an error for URLs without a logical cluster', () => {
    for (const path of [
      '/services/unknown/clusters/*',
      '/services/workspaces/clusters/*',
      '/services/initializingworkspaces/nothing/clusters/*',
      '/services/apiexport',
    ])
      assert.throws(
        () => behind(path),
        /names no logical cluster: give --server the URL of a workspace/,
        path,
      )
  })

  it('is selected by the URL of the view', () => {
    assert.ok(isView('https://localhost:6443/services/workspaces/clusters/root'))
    assert.ok(!isView('https://localhost:6443/clusters/services'))
  })
})
