package orders;

import java.util.List;

/** Takes orders and tells the warehouse. */
public class OrderService {
    private final Warehouse warehouse;

    public OrderService(Warehouse warehouse) {
        this.warehouse = warehouse;
    }

    /** Refuses an order without items or with one that is out of stock. */
    public void validateOrder(Order order) {
        if (order.items().isEmpty()) {
            throw new IllegalArgumentException("an order needs an item");
        }
        order.items().forEach(item -> warehouse.requireInStock(item));
    }

    /** Reserves every item and gives the number of the shipment. */
    public String ship(Order order) {
        validateOrder(order);
        return warehouse.reserve(order.items());
    }

    public record Order(String customer, List<String> items) {}
}
