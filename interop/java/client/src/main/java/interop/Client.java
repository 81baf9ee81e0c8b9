package interop;

import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A service that registers and shows what it finds. */
@SpringBootApplication
@RestController
public class Client {
    private final DiscoveryClient discovery;

    @Value("${eureka.instance.instance-id}")
    private String id;

    Client(DiscoveryClient discovery) {
        this.discovery = discovery;
    }

    @GetMapping("/hello")
    String hello() {
        return "hello from " + id;
    }

    @GetMapping("/services")
    List<String> services() {
        return discovery.getServices();
    }

    @GetMapping("/services/{id}")
    List<String> instances(@PathVariable("id") String service) {
        return discovery.getInstances(service).stream().map(ServiceInstance::getInstanceId).toList();
    }

    public static void main(String[] args) {
        SpringApplication.run(Client.class, args);
    }
}
