from shop.price import net
