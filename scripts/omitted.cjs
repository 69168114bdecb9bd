// What `npm test` leaves out, what it needs, and the command that runs it.
module.exports = [
  {
    what: 'client-go and controller-runtime (test/clients)',
    needs: 'Go and its modules',
    command: 'npm run test:go',
    files: 'clients/**',
  },
  {
    what: 'linearizability by porcupine (test/linearizability)',
    needs: 'Go and its modules, and etcd',
    command: 'npm run test:go',
    files: 'linearizability/**',
  },
  {
    what: 'the same generated requests to Oriel and to another server (test/differential)',
    needs: 'a kcp or a kube-apiserver',
    command: 'FOREIGN_CRDS=<folder> PEER_KUBECONFIG=<kubeconfig> npm run test:differential',
    files: 'differential/peer.test.js',
  },
  {
    what: 'the end-to-end tests against kcp',
    needs: 'a kcp binary',
    command: 'KCP_BIN=<file> npm run test:kcp',
  },
  {
    what: "kcp's own end-to-end tests against Oriel",
    needs: "kcp's source and Go",
    command: 'KCP_SOURCE=<folder> npm run test:kcp-e2e',
  },
]
