/**
 * A load balancer for TCP as small as one can be: connections go to the pods in rotation, one after another, byte for byte. It looks at
 * nothing by itself; the test says who is in rotation, as the endpoints of a Kubernetes Service do.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Balancer {
  readonly #server: Server;
  #rotation: readonly number[] = [];
  #turn = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static start(): Promise<Balancer> {
    return new Promise((resolve) => {
      const server = createServer((client) => balancer.#pass(client));
      const balancer = new Balancer(server);
      server.listen(0, '127.0.0.1', () => resolve(balancer));
    });
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  add(port: number): void {
    this.#rotation = [...this.#rotation, port];
  }

  /** New connections go elsewhere; those that are there stay. */
  remove(port: number): void {
    this.#rotation = this.#rotation.filter((one) => one !== port);
  }

  close(): void {
    this.#server.close();
  }

  #pass(client: Socket): void {
    this.#turn += 1;
    const port = this.#rotation[this.#turn % this.#rotation.length];
    if (port === undefined) {
      client.destroy();
      return;
    }
    const pod = connect(port, '127.0.0.1');
    // An end of either side is the end of both, and a reset is no more than an end here.
    client.on('error', () => pod.destroy());
    pod.on('error', () => client.destroy());
    client.pipe(pod).pipe(client);
    client.on('close', () => pod.destroy());
    pod.on('close', () => client.destroy());
  }
}
