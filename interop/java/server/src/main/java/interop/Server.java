package interop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.netflix.eureka.server.EnableEurekaServer;

/** A Eureka server as everybody runs it; its settings come from the command line. */
@SpringBootApplication
@EnableEurekaServer
public class Server {
    public static void main(String[] args) {
        SpringApplication.run(Server.class, args);
    }
}
