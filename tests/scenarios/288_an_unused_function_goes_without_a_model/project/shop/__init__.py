from shop.price import net, old_price
