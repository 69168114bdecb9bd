import assert from 'node:assert/strict'
import { behindView, isView } from './viewquestion.ts'

const asked = {
  attributes: { resourceAttributes: { verb: 'list', resource: 'widgets' } },
  words: 'list widgets',
}
const behind = (path: string) => behindView(`https://localhost:6443${path}`, asked, 'list')

describe('a question about a view', () => {
  it('is put to who decides it', () => {
    const at = (cluster: string) => `https://localhost:6443/clusters/${cluster}`
    const content = { group: 'apis.kcp.io', resource: 'apiexports', subresource: 'content' }
    assert.deepEqual(behind('/services/apiexport/2hx8/widgets.example.com/clusters/*'), {
      server: at('2hx8'),
      explainer: 'https://localhost:6443/services/explain/clusters/2hx8',
      view: '/services/apiexport/2hx8/widgets.example.com/clusters/*',
      question: {
        attributes: { resourceAttributes: { verb: 'list', ...content, name: 'widgets.example.com' } },
        words:
          'list widgets through apiexport, which takes list apiexports.apis.kcp.io/content "widgets.example.com" in 2hx8',
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

  it('is as much as can be said of views that name no export', () => {
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
      /which takes get apibindings/,
    )
  })

  it('is the same in views that ask nobody else', () => {
    const { server, question } = behind('/services/workspaces/clusters/root')
    assert.equal(server, 'https://localhost:6443/clusters/root')
    assert.equal(question, asked)
  })

  it('is for the servers of views to answer where nobody else knows what they ask', () => {
    const { server, question } = behind('/services/unknown/clusters/root')
    assert.deepEqual([server, question], ['https://localhost:6443/clusters/root', undefined])
  })

  it('is refused where nobody can say', () => {
    for (const path of [
      '/services/unknown/clusters/*',
      '/services/workspaces/clusters/*',
      '/services/initializingworkspaces/nothing/clusters/*',
      '/services/apiexport',
    ])
      assert.throws(
        () => behind(path),
        /has no logical cluster that can be asked: give --server the URL of a workspace/,
        path,
      )
  })

  it('is one about a view by its URL', () => {
    assert.ok(isView('https://localhost:6443/services/workspaces/clusters/root'))
    assert.ok(!isView('https://localhost:6443/clusters/services'))
  })
})
